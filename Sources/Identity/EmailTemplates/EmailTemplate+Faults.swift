/// Why an email template isn't accepted.
public enum EmailTemplateFault: Error, Sendable, Equatable {
  /// A part is longer than its limit.
  case tooLong(EmailTemplate.Field)
  /// The subject or the sender's name has a line break or another control character.
  case controlCharacter(EmailTemplate.Field)
  /// A part has a variable that the email doesn't have.
  case unknownVariable(EmailTemplate.Field, String)
  /// The text or the HTML lacks a variable.
  case missingVariable(EmailTemplate.Field, EmailVariable)
  /// The address for replies isn't an email address.
  case invalidReplyTo
  /// The HTML has an element that isn't allowed.
  case element(String)
  /// The HTML has an attribute that isn't allowed.
  case attribute(String, element: String)
  /// A link leads to something else than a website, an email address, or the email's link.
  case address(String)

  /// The part that's invalid.
  public var field: EmailTemplate.Field {
    switch self {
    case .tooLong(let field), .controlCharacter(let field), .unknownVariable(let field, _),
      .missingVariable(let field, _):
      field
    case .invalidReplyTo: .replyTo
    case .element, .attribute, .address: .html
    }
  }
}

extension EmailTemplate {
  /// What's wrong with the template, in the order of its parts; nothing if it's accepted.
  public func faults(_ kind: Kind) -> [EmailTemplateFault] {
    Field.allCases.flatMap { faults($0, kind).prefix(1) }
  }

  private func faults(_ field: Field, _ kind: Kind) -> [EmailTemplateFault] {
    let text = self[field]
    guard !text.isEmpty else { return [] }
    guard text.utf8.count <= field.longest else { return [.tooLong(field)] }
    switch field {
    case .replyTo:
      // With these characters, a header field could have more than one address.
      guard !text.utf8.contains(where: { ",;:<>()[]\\\"".utf8.contains($0) }) else {
        return [.invalidReplyTo]
      }
      do { try AccountRules.checkEmail(AccountRules.folded(email: text)) } catch {
        return [.invalidReplyTo]
      }
      return []
    case .subject, .senderName:
      if !SafeName.isOneLine(text) { return [.controlCharacter(field)] }
      let allowed =
        field == .subject ? kind.variables.filter(\.isForSubject) : [EmailVariable.appName]
      return unknown(in: text, field, allowed)
    case .text: return unknown(in: text, field, kind.variables) + missing(field, kind)
    case .html:
      let html = EmailHTML(parsing: text)
      let faults = html.faults.map { fault -> EmailTemplateFault in
        switch fault {
        case .element(let name): .element(name)
        case .attribute(let name, let element): .attribute(name, element: element)
        case .address(let address): .address(address)
        }
      }
      return faults + unknown(in: text, field, kind.variables) + missing(field, kind)
    }
  }

  private func unknown(
    in text: String, _ field: Field, _ allowed: [EmailVariable]
  ) -> [EmailTemplateFault] {
    Self.names(in: text).filter { name in !allowed.contains { $0.rawValue == name } }
      .map { .unknownVariable(field, $0) }
  }

  private func missing(_ field: Field, _ kind: Kind) -> [EmailTemplateFault] {
    kind.required.filter { !self[field].contains($0.rawValue) }
      .map { .missingVariable(field, $0) }
  }

  /// The capital letters between percent signs, which are meant as variables.
  private static func names(in text: String) -> [String] {
    var names: [String] = []
    var start: String.Index?
    for index in text.utf8.indices {
      switch text.utf8[index] {
      case UInt8(ascii: "%"):
        if let from = start, text.utf8.distance(from: from, to: index) > 2 {
          names.append(String(text[from...index]))
          start = nil
        } else {
          start = index
        }
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): break
      default: start = nil
      }
    }
    return names
  }
}
