/** The values of a chart as a table. */
import { has, type Part } from '../charts/parts.ts'
import { directionText, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { type Quantity, type Scales, valueText } from '../mine/units.ts'

/**
 * A column that is shown where it has values: its name in the part, by which `texts` have its title, and what
 * it is.
 */
export type Column = readonly [name: keyof typeof texts.measures, quantity: Quantity]

/** The hours of a forecast, or a day and a half of readings; the API has all of them. */
const MOST_ROWS = 72

/** The first or the newest rows that have a value of the first column with values. */
export function PartTable(props: {
  title: string
  part: Part
  columns: readonly Column[]
  zone: Zone
  scales: Scales
  timeText: (time: Date) => string
  /** Newest first. */
  isReversed: boolean
}) {
  const { title, part, zone, scales, timeText, isReversed } = props
  const columns = props.columns.filter(([name]) => part.values[name]?.some(has))
  const rows = [...part.time.entries()].filter(([i]) => has(part.values[columns[0]?.[0] ?? '']?.[i]))
  const shown = (isReversed ? rows.toReversed() : rows).slice(0, MOST_ROWS)
  const text = (value: number | null | undefined, quantity: Quantity): string => {
    if (!has(value)) return '–'
    return quantity === 'direction' ? directionText(value) : valueText(scales(quantity), value)
  }
  return (
    <details id="table">
      <summary>{title}</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={texts.buoy.table(title)}>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.buoy.timeColumn(zone.label)}</th>
              {columns.map(([name, quantity]) => (
                <th scope="col" key={name}>
                  {texts.measures[name]}
                  {quantity === 'direction' ? null : ` ${scales(quantity).unit}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(([i, time]) => (
              <tr key={time}>
                <th scope="row">{timeText(new Date(time))}</th>
                {columns.map(([name, quantity]) => (
                  <td key={name}>{text(part.values[name]?.[i], quantity)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
