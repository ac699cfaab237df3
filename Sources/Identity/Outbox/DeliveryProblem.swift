/// Why an attempt to deliver an email failed, or none was made.
public enum DeliveryProblem: Sendable, Equatable {
  case undecryptable
  case invalidRecipient
  /// A backup from before it was sent, or not sent, was restored.
  case restored
  /// The value of this header field can't be sent.
  case invalidField(String)
  /// The mail server's response quoted the email and isn't stored; its reply code.
  case quoted(code: String)
  /// The mail server's response, or text that an earlier version stored.
  case response(String)

  var stored: String {
    switch self {
    case .undecryptable: StoredCode("undecryptable").text
    case .restored: StoredCode("restored").text
    case .invalidRecipient: StoredCode("invalid-recipient").text
    case .invalidField(let name): StoredCode("invalid-field", [name]).text
    case .quoted(let code): StoredCode("quoted", [code]).text
    // A response can't imitate a code.
    case .response(let text): StoredCode(text) == nil ? text : StoredCode("response", [text]).text
    }
  }

  init(stored text: String) {
    let stored = StoredCode(text)
    let first = stored?.values.first ?? ""
    self =
      switch stored?.code {
      case "undecryptable": .undecryptable
      case "restored": .restored
      case "invalid-recipient": .invalidRecipient
      case "invalid-field": .invalidField(first)
      case "quoted": .quoted(code: first)
      case "response": .response(first)
      default: .response(text)
      }
  }
}
