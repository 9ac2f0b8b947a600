// Development builds of JSX import this module.
export { Fragment, type JSX, jsx as jsxDEV } from './jsx-runtime.ts'
