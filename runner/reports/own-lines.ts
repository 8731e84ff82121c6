/**
 * A stack in the val's own lines: `hello.tsx:3:9`, without where the file happens to lie in a sandbox, and without
 * the frames of the program around the val and of Deno itself. The val may have written it, to be slow to read: from
 * one `file:///` the search goes no further than to the next colon.
 */
export function ownLines(stack: string): string {
  if (!stack.includes('file:///') && !stack.includes('blob:null/')) return stack
  return stack
    .split('\n')
    .filter(
      (line) =>
        !/^\s+at .*(?:file:\/\/\/(?:[^\s:]*\/)?app\/[a-z-]+\.js|\bext:|\bnode:|\bblob:null\/)/.test(line),
    )
    .map((line) => line.replaceAll(/file:\/\/\/(?:[^\s:]*?\/)?val\/([a-zA-Z][a-zA-Z0-9_]*\.tsx?)/g, '$1'))
    .join('\n')
}
