/** The label in front of the vals' domain in a Host header; null for the domain itself and for any other host. */
export function hostLabelOrNull(host: string | undefined, domain: string): string | null {
  if (host === undefined) return null
  const name = host
    .replace(/:\d{1,5}$/, '')
    .toLowerCase()
    .replace(/\.$/, '')
  if (!name.endsWith(`.${domain}`)) return null
  const label = name.slice(0, -(domain.length + 1))
  return /^[a-z0-9-]{1,63}$/.test(label) ? label : null
}
