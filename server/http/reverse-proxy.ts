import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'

/** The base URL that a trusted proxy says the caller used. */
export function baseUrlOf({ headers }: IncomingMessage, otherwise: string): string {
  const host = lastOf(headers['x-forwarded-host'])
  const protocol = lastOf(headers['x-forwarded-proto']) ?? 'https'
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !/^https?$/.test(protocol)) return otherwise
  const baseUrl = `${protocol}://${host}`
  return URL.canParse(baseUrl) ? baseUrl : otherwise
}

/** Whose allowance a request without a token counts against. */
export function clientAddressOf({ trustProxy }: Config, { headers, socket }: IncomingMessage): string {
  const forwarded = trustProxy ? lastOf(headers['x-forwarded-for']) : undefined
  return forwarded ?? socket.remoteAddress ?? 'unknown'
}

/** The entry that the nearest proxy, the trusted one, added; the ones before it are the caller's own words. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const last = [header].flat().join(',').split(',').at(-1)?.trim()
  return last === '' ? undefined : last
}
