/** Reads the wishes of a request: query, form, language; and makes the key of its answer. */
import type { Parameters, QueryOf } from '../operation/parameters.ts'
import { nowOf, type Operation } from '../operation/operation.ts'
import { EtagHash, SEPARATOR, type RawQuery, type Texts } from '../operation/query.ts'
import { shapeKey, shapeOf, type EdrAsked, type Format, type Shape } from '../operation/shape.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import type { Admitted } from './served.ts'
import type { Exchange } from './exchange.ts'
import { Preference, preferredFormat, preferredLanguage } from '../operation/preferences.ts'
import type { Tag } from './reply.ts'
import type { Route, Target } from './router.ts'

export interface Asked extends Tag {
  readonly target: Target
  /** Decoded arguments of the path. */
  readonly path: readonly string[]
  readonly texts: Texts
  readonly query: QueryOf<Parameters>
  /** Null for the usual JSON. */
  readonly shape: Shape | null
  /** The query names a page or its size, for a form other than the usual JSON. */
  readonly isPaged: boolean
  readonly language: Language
  /** Epoch second until which the answer holds; 0 for ever. */
  readonly until: number
}

const formatsByHeader = new Map<readonly Format[], Preference<Format>>()
const tag = new EtagHash()

/** @throws ApiError */
export function readAsked(
  { exchange, served, now }: Admitted,
  { target, path }: Route<Target>,
  raw: RawQuery,
): Asked {
  const { operation, reader, index } = target
  const shape = readShape(exchange, operation, raw)
  const isPaged = shape !== null && (raw.get('page') !== '' || raw.get('per_page') !== '')
  const texts = reader.textsOf(raw)
  const relativeTo = nowOf(operation, served.view!, now)
  const query = reader.read(texts, tag.begin().add(index), relativeTo, raw.names)
  const language = languageOf(operation, query, exchange)
  const until = operation.holdsUntil?.(served.view!, query, now) ?? 0
  for (const argument of path) tag.add(argument)
  tag.add(until)
  if (operation.language === true) tag.add(language)
  if (shape !== null) tag.add(formOf(shape, isPaged))
  const { low, high } = tag
  return { target, path, texts, query, shape, isPaged, language, until, low, high }
}

/** A request of EDR, which is read where it is answered. @param until as `Asked.until` */
export function edrAsked(target: Target, edr: EdrAsked, format: Format, until: number): Asked {
  const shape = {
    format,
    fields: null,
    byColumns: false,
    units: '0',
    hasMark: false,
    isExplicit: true,
    edr,
  } as const
  const { low, high } = tag.begin().add(target.index).add(until).add(shapeKey(shape))
  const query = Object.freeze({}) as Asked['query']
  return {
    target,
    path: [],
    texts: [],
    query,
    shape,
    isPaged: false,
    language: DEFAULT_LANGUAGE,
    until,
    low,
    high,
  }
}

/** One text for all requests with the same answer of a snapshot. */
export function canonicalOf({
  target: { operation, reader },
  path,
  texts,
  query,
  shape,
  isPaged,
  language,
  until,
}: Asked): string {
  const form = shape === null ? '' : formOf(shape, isPaged)
  const canonical = [operation.name, ...path, reader.canonical(query), until, language, form].join(SEPARATOR)
  // The header `Link` repeats the texts of the query.
  return 'page' in operation.parameters ? canonical + SEPARATOR + texts.join(SEPARATOR) : canonical
}

function formOf(shape: Shape, isPaged: boolean): string {
  return shapeKey(shape) + (isPaged ? '|p' : '')
}

/** Null for the usual JSON. @throws ApiError 400 */
function readShape(exchange: Exchange, { tables, parameters }: Operation, raw: RawQuery): Shape | null {
  if (!raw.mayShape && (tables === undefined || hasUsualAccept(exchange))) return null
  return shapeOf(tables, 'include' in parameters, raw, (formats) => {
    let preference = formatsByHeader.get(formats)
    if (preference === undefined) {
      preference = new Preference((accept) => preferredFormat(accept, formats))
      formatsByHeader.set(formats, preference)
    }
    return preference.choiceFor(exchange.headerValues('accept'))
  })
}

/** Whether the answer depends on the target alone, not on a header. */
export function isUsual(exchange: Exchange, { tables, language }: Operation): boolean {
  return (
    (tables === undefined || hasUsualAccept(exchange)) &&
    (language !== true || exchange.headerValues('accept-language') === '')
  )
}

function hasUsualAccept(exchange: Exchange): boolean {
  const accept = exchange.headerValues('accept')
  return accept === '' || accept === '*/*' || accept === 'application/json'
}

function languageOf(operation: Operation, query: Asked['query'], exchange: Exchange): Language {
  if (operation.language !== true) return DEFAULT_LANGUAGE
  const locale = query.locale as Language | undefined
  if (locale !== undefined) return locale
  const accepted = exchange.headerValues('accept-language')
  return accepted === '' ? DEFAULT_LANGUAGE : preferredLanguage(accepted, LANGUAGES)
}
