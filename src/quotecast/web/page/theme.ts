import { signal } from "@preact/signals";
import { isOneOf, sharedSignal } from "./stored.ts";
import type { Word } from "./words.ts";

export const THEMES = ["auto", "dark", "light"] as const;
export type Theme = (typeof THEMES)[number];
export const THEME_NAMES: Record<Theme, Word> = { auto: "themeAuto", dark: "themeDark", light: "themeLight" };

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export const theme = sharedSignal<Theme>("theme", "auto", isOneOf(THEMES));
/** The theme on the screen, for charts: they paint without the style sheet. */
export const shade = signal<"dark" | "light">("dark");

function apply(): void {
  const dark = theme.value === "dark" || (theme.value === "auto" && systemIsDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  shade.value = dark ? "dark" : "light";
  // The frame of an installed page.
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", colour("panel"));
}

/** Applies the reader's theme, or with "auto" the system's, now and at every change. */
export function followTheme(): void {
  systemIsDark.addEventListener("change", apply);
  theme.subscribe(apply);
}

/** Returns a colour of the style sheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
