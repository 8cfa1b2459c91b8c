/** The operator's colour, as light or as dark as the texts and buttons of a theme need it. */

/** Contrast of a text with its background (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5
/**
 * `--raised` of both themes, on which less stands out than on `--surface`, and what a colour is mixed with.
 */
const BELOW = { light: '#f4f7f9', dark: '#1c2d39' } as const
const MIXED_WITH = { light: 0, dark: 255 } as const
const STEPS = 100

const channelsOf = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

/** The relative luminance of a colour (WCAG 2.2). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast of two colours (`#rrggbb`), from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

/**
 * The colour nearest to `accent` (`#rrggbb`) that stands out in a theme: mixed with black in light, with
 * white in dark.
 */
export function accentOf(accent: string, theme: 'light' | 'dark'): string {
  for (let step = 0; step < STEPS; step++) {
    const mixed = channelsOf(accent).map((channel) =>
      Math.round(channel + ((MIXED_WITH[theme] - channel) * step) / STEPS),
    )
    const color = `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
    if (contrast(color, BELOW[theme]) >= LEAST_CONTRAST) return color
  }
  return theme === 'light' ? '#000000' : '#ffffff'
}
