// A person's browser asks for pages by name; programs take whatever comes, or ask for JSON.
export const wantsPage = (accept: string | undefined) => accept?.includes('text/html') ?? false

export const wantsJson = (accept: string | undefined) =>
  !wantsPage(accept) && (accept?.includes('application/json') ?? false)
