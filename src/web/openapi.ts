export const openapiDocument = (baseUrl: string) => ({ openapi: '3.1.0', servers: [{ url: baseUrl }] })
