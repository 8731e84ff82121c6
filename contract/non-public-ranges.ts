/**
 * Addresses that are not the public internet, where neither a val nor an alert gets to. The documentation ranges
 * (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32) are not among them: nothing real lives there, and tests
 * stand in for the internet with them.
 */
export const nonPublicRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, and some clouds' metadata
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, and most clouds' metadata at 169.254.169.254
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24', // 6to4 relays: a way to wrap other addresses
  '192.168.0.0/16',
  '198.18.0.0/15', // where the sandboxes' own addresses are
  '224.0.0.0/4',
  '240.0.0.0/4', // reserved, and broadcast
  '::/128',
  '::1/128',
  '::ffff:0:0/96', // IPv4 addresses in IPv6 notation, four kinds of them
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32', // Teredo
  '2002::/16', // 6to4
  'fc00::/7', // unique local, and metadata at fd00:ec2::254
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const
