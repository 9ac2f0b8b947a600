// What tools for developers ask for instead.
export { Fragment, type JSX, jsx as jsxDEV } from './jsx-runtime.ts'
