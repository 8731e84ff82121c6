import type { FirstUser } from './first-user.ts'

interface Welcome {
  readonly url: string
  readonly valsUrl: string
  readonly folder: string
  readonly user: FirstUser
}

/** What a person sees once everything runs. */
export function formatWelcome({ url, valsUrl, folder, user }: Welcome): string {
  return `
Valley is running.

  API    ${url}
  Docs   ${url}/docs
  Vals   ${valsUrl.replace('://', '://{username}--{val}.')}
  Data   ${folder} (with the logs)

${user.token === null ? formatTokenHint(user.name) : formatToken(url, user.name, user.token)}

Stop it with Ctrl-C.
`
}

function formatToken(url: string, name: string, token: string): string {
  return `  The first user is "${name}". This is a token of theirs; it is shown only this time:

    export VALLEY_URL=${url}
    export VALLEY_TOKEN=${token}

  Try it:

    curl -H "Authorization: Bearer $VALLEY_TOKEN" $VALLEY_URL/v1/me`
}

function formatTokenHint(name: string): string {
  return `  For another token:  npm run --silent admin -- issue-token ${name}`
}
