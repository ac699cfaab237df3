enum SecondFactorKind {
  case phone
  case totp

  init?(
    of message: RequestMessage, _ phone: String, _ totp: String, oneof: String
  ) throws(WireError) {
    switch (try message.has(phone), try message.has(totp)) {
    case (true, true): throw .oneof(oneof, setting: phone, in: message.path)
    case (true, false): self = .phone
    case (false, true): self = .totp
    case (false, false): return nil
    }
  }
}
