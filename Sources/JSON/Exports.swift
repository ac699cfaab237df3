// JSON strings are `UntrustedText`, so that callers need the type.
@_exported public import Text
