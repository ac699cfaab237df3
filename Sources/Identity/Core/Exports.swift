// Re-exported because the interfaces pass passwords and TOTP windows to this module but may not
// import these libraries.
@_exported public import Crypto
@_exported public import OTP
