// Draws probe accuracy against pre-training epochs, one line per encoder, with a band of one standard deviation.
import { lineChart } from "./vendor/minichart.min.js";

/** Rows of {encoder, epoch, top1_mean, top1_std} grouped by encoder. */
export function bySeries(rows) {
  const series = new Map();
  for (const row of rows) {
    if (!series.has(row.encoder)) series.set(row.encoder, []);
    series.get(row.encoder).push(row);
  }
  for (const points of series.values()) points.sort((a, b) => a.epoch - b.epoch);
  return series;
}

export async function draw(target, url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const series = bySeries(await answer.json());
  for (const [name, points] of series) {
    lineChart(target, {
      name,
      x: points.map((p) => p.epoch),
      y: points.map((p) => p.top1_mean),
      low: points.map((p) => p.top1_mean - p.top1_std),
      high: points.map((p) => p.top1_mean + p.top1_std),
    });
  }
}
