// Bias and GELU (tanh form) in one pass over the hidden activations of the MLP.
#include <cuda_fp16.h>
#include <torch/extension.h>

namespace {

constexpr float kAlpha = 0.7978845608f;  // sqrt(2 / pi)
constexpr float kBeta = 0.044715f;

__device__ __forceinline__ float gelu(float x) {
  const float inner = kAlpha * (x + kBeta * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

__global__ void bias_gelu_kernel(const __half* __restrict__ in, const __half* __restrict__ bias,
                                 __half* __restrict__ out, int rows, int width) {
  const int row = blockIdx.x;
  for (int col = threadIdx.x; col < width; col += blockDim.x) {
    const int at = row * width + col;
    const float x = __half2float(in[at]) + __half2float(bias[col]);
    out[at] = __float2half(gelu(x));
  }
}

}  // namespace

torch::Tensor bias_gelu(torch::Tensor input, torch::Tensor bias) {
  TORCH_CHECK(input.is_cuda() && input.scalar_type() == torch::kHalf, "half tensors on the GPU only");
  auto output = torch::empty_like(input);
  const int width = input.size(-1);
  const int rows = input.numel() / width;
  bias_gelu_kernel<<<rows, 256>>>(reinterpret_cast<const __half*>(input.data_ptr()),
                                  reinterpret_cast<const __half*>(bias.data_ptr()),
                                  reinterpret_cast<__half*>(output.data_ptr()), rows, width);
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("bias_gelu", &bias_gelu, "bias + GELU"); }
