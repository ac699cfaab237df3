// The surfaces hand passwords to the rules and show windows, and may import neither library.
@_exported public import Crypto
@_exported public import OTP
