import { signal } from "@preact/signals";
import { isOneOf, stored } from "./stored.ts";

const THEMES = ["auto", "dark", "light"] as const;
export type Theme = (typeof THEMES)[number];

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export const theme = stored<Theme>("theme", "auto", isOneOf(THEMES));
/** What is shown: charts are told, for they paint by themselves. */
export const shade = signal<"dark" | "light">("dark");

function apply(): void {
  const dark = theme.value === "dark" || (theme.value === "auto" && systemIsDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  shade.value = dark ? "dark" : "light";
}

/** Follows the reader's choice, and the system's where the reader made none. */
export function followTheme(): void {
  systemIsDark.addEventListener("change", apply);
  theme.subscribe(apply);
}

/** A colour of the style sheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
