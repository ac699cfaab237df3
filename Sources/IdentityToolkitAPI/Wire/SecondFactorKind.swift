/// Which kind of second factor a message is about.
enum SecondFactorKind {
  case phone
  case totp

  /// Reads which of two members is there; nil when neither is.
  init?(
    of message: Message, _ phone: String, _ totp: String, oneof: String
  ) throws(WireError) {
    switch (try message.has(phone), try message.has(totp)) {
    case (true, true): throw .oneof(oneof, setting: phone, in: message.path)
    case (true, false): self = .phone
    case (false, true): self = .totp
    case (false, false): return nil
    }
  }
}
