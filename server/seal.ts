import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
// Said to both sides: a shorter tag, which would be easier to forge, is then refused.
const authTagLength = 16

/** By how much the sealed form of a text is longer than its UTF-8. */
export const sealBytes = ivBytes + authTagLength

/** Encrypts a text for rest. It opens only with the same key and the same `purpose`, which is not kept with it. */
export function seal(key: Buffer | KeyObject, text: string, purpose = ''): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength }).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** Throws when the text was sealed with another key or for another purpose, or was tampered with. */
export function unseal(key: Buffer | KeyObject, sealed: Buffer, purpose = ''): string {
  const iv = sealed.subarray(0, ivBytes)
  const decipher = createDecipheriv(algorithm, key, iv, { authTagLength }).setAAD(Buffer.from(purpose))
  decipher.setAuthTag(sealed.subarray(ivBytes, sealBytes))
  return decipher.update(sealed.subarray(sealBytes), undefined, 'utf8') + decipher.final('utf8')
}
