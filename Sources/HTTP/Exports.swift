// What is read is `UntrustedText`.
@_exported public import Text
