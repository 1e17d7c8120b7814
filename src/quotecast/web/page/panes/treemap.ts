export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/**
 * Returns boxes that fill `frame`, each in proportion to its weight and as square as possible (Bruls, Huizing,
 * van Wijk: Squarified Treemaps, 2000). Weights are positive, in descending order.
 */
export function treemap(weights: readonly number[], frame: Box): Box[] {
  const total = weights.reduce((sum, each) => sum + each, 0);
  const scale = total ? (frame.w * frame.h) / total : 0;
  const areas = weights.map((each) => each * scale);
  const boxes: Box[] = [];
  let free = frame;
  for (let from = 0; from < areas.length; ) {
    const side = Math.min(free.w, free.h);
    let to = from + 1;
    while (to < areas.length && worst(areas.slice(from, to + 1), side) <= worst(areas.slice(from, to), side)) to += 1;
    free = fillStrip(areas.slice(from, to), free, boxes);
    from = to;
  }
  return boxes;
}

/** Returns the worst aspect ratio of the boxes of a strip along a side. */
function worst(areas: readonly number[], side: number): number {
  const sum = areas.reduce((total, each) => total + each, 0);
  const [least, most] = [Math.min(...areas), Math.max(...areas)];
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Lays a strip along the shorter side and returns the rest of the frame. */
function fillStrip(areas: readonly number[], frame: Box, boxes: Box[]): Box {
  const sum = areas.reduce((total, each) => total + each, 0);
  const upright = frame.w >= frame.h;
  const depth = Math.min(upright ? frame.w : frame.h, sum / (upright ? frame.h : frame.w) || 0);
  let [x, y] = [frame.x, frame.y];
  for (const area of areas) {
    const length = depth ? area / depth : 0;
    boxes.push(upright ? { x, y, w: depth, h: length } : { x, y, w: length, h: depth });
    if (upright) y += length;
    else x += length;
  }
  if (upright) return { ...frame, x: frame.x + depth, w: frame.w - depth };
  return { ...frame, y: frame.y + depth, h: frame.h - depth };
}
