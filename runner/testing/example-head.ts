import type { Head } from '@valley/bus/requests.ts'

/** A val as a server would describe it. */
export const exampleHead: Head = {
  valId: '01a1dd3a-ce86-7377-909b-90556be809f1',
  ownerId: '01a1dd3a-ce0f-70b1-af48-f284772a9608',
  username: 'alice',
  name: 'hello',
  privacy: 'public',
  type: 'http',
  version: 1,
  code: 'export default () => new Response("v1")',
  environmentRevision: '0',
  environment: {},
  isOverQuota: false,
}
