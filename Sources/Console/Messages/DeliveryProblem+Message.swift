import Identity
import Localization

extension DeliveryProblem {
  var short: Message {
    if case .response(let text) = self { .verbatim(Formatted.short(text, 120)) } else { message }
  }

  /// The error; a mail server's response is shown as it is.
  var message: Message {
    switch self {
    case .undecryptable: Message("The text can’t be decrypted.")
    case .restored: Message("Not sent: a backup was restored after the message was created.")
    case .invalidRecipient: Message("Email can’t be sent to this address.")
    case .invalidField(let name):
      Message(
        "The {field} header field contains a character that isn’t allowed.", ["field": .text(name)])
    case .quoted(let code) where code.isEmpty:
      Message("The response quoted the message and isn’t stored.")
    case .quoted(let code):
      Message("{code} The response quoted the message and isn’t stored.", ["code": .text(code)])
    case .response(let text): .verbatim(text)
    }
  }
}
