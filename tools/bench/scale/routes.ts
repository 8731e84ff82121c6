/** Every list route of the API, and those of its filters that have an index of their own. */
export function listRoutes({
  me,
  val,
}: {
  readonly me: string
  readonly val: string
}): Readonly<Record<string, string>> {
  return {
    'me/runs': '/v1/me/runs',
    'me/runs error=true': '/v1/me/runs?error=true',
    'me/runs source=schedule': '/v1/me/runs?source=schedule',
    'vals/{id}/runs': `/v1/vals/${val}/runs`,
    'vals/{id}/runs error=true': `/v1/vals/${val}/runs?error=true`,
    'me/vals': '/v1/me/vals',
    'users/{id}/vals': `/v1/users/${me}/vals`,
    'vals/{id}/versions': `/v1/vals/${val}/versions`,
    'me/likes': '/v1/me/likes',
    'me/comments any': '/v1/me/comments',
    'me/comments given': '/v1/me/comments?relationship=given',
    'me/comments received': '/v1/me/comments?relationship=received',
    'vals/{id}/comments': `/v1/vals/${val}/comments`,
    'me/references': '/v1/me/references',
    'me/tokens': '/v1/me/tokens',
    'search, in half of all vals': '/v1/search/vals?query=fetchForecast',
    'search, in one of a thousand': '/v1/search/vals?query=topic7',
    'search, rare': '/v1/search/vals?query=needle77',
    'search, part of a name': '/v1/search/vals?query=al_77',
  }
}

/** Where one route's figure goes in the JSON line. */
export function figureName(route: string, depth: 'first' | 'deep'): string {
  return `${route.replaceAll(/[^a-z]+/gi, '_')}_${depth}_ratio`
}
