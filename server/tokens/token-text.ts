import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'vly_'
const secretBytes = 32
/** 62^43 > 2^256 and 62^6 > 2^32: what 32 random bytes and a CRC-32 take in base 62. */
const secretChars = 43
const checksumChars = 6
const shape = new RegExp(`^${prefix}[${alphabet}]{${secretChars + checksumChars}}$`)

/** A new secret. Its last characters are a checksum, so that a typo is found without asking the database. */
export function newTokenText(): string {
  const secret = prefix + base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretChars)
  return secret + checksumOf(secret)
}

export function isTokenText(text: string): boolean {
  return shape.test(text) && text.slice(-checksumChars) === checksumOf(text.slice(0, -checksumChars))
}

/** What is stored instead of the secret. The secret is random, so that a plain hash is enough. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function checksumOf(secret: string): string {
  return base62(BigInt(crc32(secret)), checksumChars)
}

function base62(value: bigint, chars: number): string {
  let rest = value
  let text = ''
  for (let i = 0; i < chars; i++) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}
