/**
 * What may be sent as a header (RFC 9110, sections 5.1 and 5.5).
 *
 * @module
 */

/** True for a name of token characters. */
export function isHeaderName(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}

/** True for a value of visible Latin-1 characters, spaces and tabs. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** True for a header that the protocol or the connection writes by itself. */
export function isReservedHeader(name: string): boolean {
  return /^(accept|accept-encoding|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|sec-.*|te|trailer|transfer-encoding|upgrade|via)$/i
    .test(name);
}

/** True for the name of a header or variable whose value is a credential. */
export function isCredentialName(name: string): boolean {
  return /auth|cookie|token|secret|key|session|passw|credential|signature/i.test(name);
}
