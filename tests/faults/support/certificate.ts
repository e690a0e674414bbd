/**
 * A certificate that nobody trusts, for the tests alone: localhost, signed by itself, with its key.
 *
 * @module
 */

/** The certificate. */
export const certificate: string = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUfQ0E+oTLVG8U/qPs506AXtv7zMEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDEyMTgyOVoYDzIxMjYxMDI3
MTIxODI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARc0DAyBVTpY8qpdjuvZDcn+K0S9d9y5H4MkGBqIfwLI6SLXhzkcPfs
l9w0N8okF7W1lH9MD8iEv0qt4Jk7zoIMo28wbTAdBgNVHQ4EFgQUAYqRKioyPLHu
yq/Kbm4ScZei2SUwHwYDVR0jBBgwFoAUAYqRKioyPLHuyq/Kbm4ScZei2SUwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgB4FIaQcnAneXfVAYJxUB0MhCs+Dl/vwTeYgKQ9gI3AICIQCw
N7e8Po7RuKFSkX2aWlIrqyw3Nj/ch5m/XiqbT1owgQ==
-----END CERTIFICATE-----
`;

/** Its key: public like the rest of this folder. */
export const key: string = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeRgxiU4MOwZ73Dxs
9KJMMN3sr2bAJHDgp1zFKs/8r16hRANCAARc0DAyBVTpY8qpdjuvZDcn+K0S9d9y
5H4MkGBqIfwLI6SLXhzkcPfsl9w0N8okF7W1lH9MD8iEv0qt4Jk7zoIM
-----END PRIVATE KEY-----
`;
