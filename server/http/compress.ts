import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { limits } from '../limits.ts'

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/** A quality at which a page of vals takes about a millisecond; the highest would take a hundred. */
const brotliQuality = 4

interface Encoded {
  readonly bytes: Buffer
  readonly encoding: 'br' | 'gzip'
}

/** The text compressed, if it is worth it and the caller takes it; otherwise null. */
export async function compress(text: string, acceptEncoding: string): Promise<Encoded | null> {
  if (Buffer.byteLength(text) < limits.compressBytesMin) return null
  const accepted = acceptEncoding.toLowerCase().split(',')
  if (accepted.some((entry) => takes(entry, 'br'))) {
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }
    return { bytes: await brotliAsync(text, options), encoding: 'br' }
  }
  if (accepted.some((entry) => takes(entry, 'gzip')))
    return { bytes: await gzipAsync(text), encoding: 'gzip' }
  return null
}

function takes(entry: string, encoding: string): boolean {
  const [name = '', ...options] = entry.split(';').map((part) => part.trim())
  return name === encoding && !options.some((option) => /^q=0(\.0*)?$/.test(option))
}
