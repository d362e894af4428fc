// Antialiased bilinear resize of interleaved uint8 images, rows then columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

struct Taps {
  int first;
  std::vector<float> weights;
};

// Triangle filter whose support grows with the scale when the image shrinks.
static std::vector<Taps> make_taps(int in, int out) {
  const float scale = static_cast<float>(in) / out;
  const float support = std::max(1.0f, scale);
  std::vector<Taps> taps(out);
  for (int i = 0; i < out; ++i) {
    const float center = (i + 0.5f) * scale;
    const int first = std::max(0, static_cast<int>(center - support));
    const int last = std::min(in, static_cast<int>(center + support + 1));
    float sum = 0.0f;
    taps[i].first = first;
    for (int j = first; j < last; ++j) {
      const float w = std::max(0.0f, 1.0f - std::fabs((j + 0.5f - center) / support));
      taps[i].weights.push_back(w);
      sum += w;
    }
    for (float& w : taps[i].weights) w /= sum;
  }
  return taps;
}

extern "C" void resize_rows(const uint8_t* in, uint8_t* out, int rows, int width, int new_width, int channels) {
  const auto taps = make_taps(width, new_width);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < new_width; ++c) {
      for (int k = 0; k < channels; ++k) {
        float value = 0.0f;
        for (size_t t = 0; t < taps[c].weights.size(); ++t) {
          value += taps[c].weights[t] * in[(r * width + taps[c].first + t) * channels + k];
        }
        out[(r * new_width + c) * channels + k] = static_cast<uint8_t>(std::lround(value));
      }
    }
  }
}
