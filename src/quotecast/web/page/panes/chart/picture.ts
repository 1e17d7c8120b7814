/** Height of a picture's title, in CSS pixels. */
const TITLE_HEIGHT = 26;

interface Title {
  readonly text: string;
  readonly colour: string;
  readonly ground: string;
  readonly font: string;
}

/** Returns the chart's picture under a title. */
export function withTitle(chart: HTMLCanvasElement, { text, colour, ground, font }: Title): HTMLCanvasElement {
  const ratio = window.devicePixelRatio || 1;
  const height = Math.round(TITLE_HEIGHT * ratio);
  const picture = document.createElement("canvas");
  picture.width = chart.width;
  picture.height = chart.height + height;
  const context = picture.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = ground;
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = colour;
  context.font = `600 ${Math.round(13 * ratio)}px ${font}`;
  context.textBaseline = "middle";
  context.fillText(text, Math.round(10 * ratio), height / 2, picture.width - 2 * Math.round(10 * ratio));
  context.drawImage(chart, 0, height);
  return picture;
}

/** Returns a file name without the characters that file systems refuse. */
export const fileName = (key: string, interval: string, at: Date): string =>
  `${key}-${interval}-${at.toISOString().slice(0, 19)}.png`.replace(/[^\w.-]/g, "-");

/** Saves a picture as a file of the reader. */
export function download(picture: HTMLCanvasElement, name: string): void {
  picture.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}
