import type { FirstUser } from './first-user.ts'

/** What a person sees once everything runs. */
export function formatWelcome(url: string, folder: string, user: FirstUser): string {
  return `
Valley is running.

  API    ${url}
  Docs   ${url}/docs
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
