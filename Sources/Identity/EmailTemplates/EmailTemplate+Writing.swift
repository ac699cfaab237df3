import Text

/// The values of the variables of an email.
typealias EmailValues = [EmailVariable: String]

extension MailContent {
  /// The kind of template of an email to a user and the values of its variables, except those that
  /// are sentences; nil for other messages, and for action links.
  var template: (kind: EmailTemplate.Kind, values: EmailValues)? {
    switch self {
    case .notice(let mail):
      (.notice, [.appName: Self.name(of: mail.scope), .email: mail.email ?? ""])
    case .callerCode(let mail):
      (
        .callerCode,
        [
          .appName: Self.name(of: mail.scope), .email: mail.email, .code: mail.grouped,
          .agent: SafeName.unlinked(mail.agent),
        ]
      )
    case .enrollmentLink(let mail):
      (
        .enrollmentLink,
        [.appName: Self.name(of: mail.scope), .email: mail.email, .link: mail.link]
      )
    default: nil
    }
  }

  private static func name(of scope: Scope) -> String { SafeName.oneLine(scope.projectName) }
}

extension EmailTemplate {
  /// Writes an email with the parts of the template, and those of the default text where it has
  /// none.
  ///
  /// - Parameters:
  ///   - kind: The kind of email.
  ///   - values: The values of its variables.
  ///   - language: The language of the email.
  ///   - standard: Writes the default text; called only if a part of it is needed.
  /// - Returns: The email.
  func written(
    _ kind: Kind, _ values: EmailValues, in language: String, _ standard: () -> WrittenMail
  ) -> WrittenMail {
    let body = body(kind, values)
    let standard = subject.isEmpty || body == nil ? standard() : nil
    let own = subject.isEmpty ? nil : SafeName.oneLine(Self.filled(subject, values), longest: 250)
    return WrittenMail(
      subject: own ?? standard?.subject ?? "", body: body?.text ?? standard?.body ?? "",
      html: body == nil ? standard?.html : body?.html,
      senderName: senderName.isEmpty
        ? nil : SafeName.oneLine(Self.filled(senderName, values.filter { $0.key == .appName })),
      replyTo: replyTo.isEmpty ? nil : replyTo, language: language)
  }

  /// The text and the HTML; nil if the template has neither, and no HTML if it's made from the text.
  ///
  /// Values that the email is useless without are added to a text that lacks them.
  private func body(_ kind: Kind, _ values: EmailValues) -> (text: String, html: String?)? {
    guard !text.isEmpty || !html.isEmpty else { return nil }
    let html = html.isEmpty ? nil : completed(EmailHTML(parsing: html), kind, values)
    let text =
      text.isEmpty ? html?.plainText ?? "" : Self.filled(completed(text, kind), values)
    return (text, html?.html)
  }

  private func completed(_ text: String, _ kind: Kind) -> String {
    kind.required.filter { !text.contains($0.rawValue) }
      .reduce(text) { $0 + "\n\n\($1.rawValue)\n" }
  }

  private func completed(
    _ html: EmailHTML, _ kind: Kind, _ values: EmailValues
  ) -> EmailHTML {
    var html = html
    let missing = kind.required.filter { !html.mentions($0) }
    if !missing.isEmpty {
      html = EmailHTML(
        html.tokens + missing.flatMap { [.start("p"), .text($0.rawValue), .end("p")] })
    }
    return html.filled(with: values)
  }

  /// Inserts the values in one pass, so that placeholders within values stay as they are.
  fileprivate static func filled(_ text: String, _ values: EmailValues) -> String {
    var result = ""
    for part in parts(of: text, values) {
      switch part {
      case .literal(let text): result += text
      case .value(_, let value): result += value
      }
    }
    return result
  }

  fileprivate enum Part {
    case literal(Substring)
    case value(EmailVariable, String)
  }

  fileprivate static func parts(of text: String, _ values: EmailValues) -> [Part] {
    var parts: [Part] = []
    var (start, index) = (text.startIndex, text.startIndex)
    while let mark = text.utf8[index...].firstIndex(of: UInt8(ascii: "%")) {
      let rest = text[mark...]
      guard let (variable, value) = values.first(where: { rest.hasPrefix($0.key.rawValue) }) else {
        index = text.utf8.index(after: mark)
        continue
      }
      if start < mark { parts.append(.literal(text[start..<mark])) }
      parts.append(.value(variable, value))
      index = text.utf8.index(mark, offsetBy: variable.rawValue.utf8.count)
      start = index
    }
    if start < text.endIndex { parts.append(.literal(text[start...])) }
    return parts
  }
}

extension EmailHTML {
  fileprivate func mentions(_ variable: EmailVariable) -> Bool {
    tokens.contains { token in
      switch token {
      case .start(_, let href): href?.contains(variable.rawValue) ?? false
      case .text(let text): text.contains(variable.rawValue)
      case .end: false
      }
    }
  }

  /// Inserts values as text, never as markup; the link becomes one where it isn't in one.
  fileprivate func filled(with values: EmailValues) -> EmailHTML {
    var tokens: [Token] = []
    var links = 0
    for token in self.tokens {
      switch token {
      case .start(let name, let href):
        if name == "a" { links += 1 }
        tokens.append(.start(name, href: href.flatMap { Self.filled(address: $0, values) }))
      case .end(let name):
        if name == "a" { links -= 1 }
        tokens.append(token)
      case .text(let text):
        for part in EmailTemplate.parts(of: text, values) {
          switch part {
          case .literal(let text): tokens.append(.text(String(text)))
          case .value(.link, let link) where links == 0:
            tokens += [.start("a", href: link), .text(link), .end("a")]
          case .value(let variable, let value):
            let lines = value.split(separator: "\n", omittingEmptySubsequences: false)
            tokens += Self.inline(
              lines.map(String.init), linksLines: links == 0 && variable.isOfServer)
          }
        }
      }
    }
    return EmailHTML(tokens)
  }

  /// The address of a link; nil if its values make it one that isn't allowed.
  ///
  /// Values are encoded, except for the link, which is an address itself.
  private static func filled(address: String, _ values: EmailValues) -> String? {
    let link = EmailVariable.link.rawValue
    let encoded = values.map { variable, value in
      (variable, variable == .link ? value : URIComponent.encode(value, keeping: "@"))
    }
    let filled = EmailTemplate.filled(address, EmailValues(uniqueKeysWithValues: encoded))
    return address.hasPrefix(link) || isAddress(filled, link: link) ? filled : nil
  }
}
