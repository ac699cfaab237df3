import Crypto
import HTTP
import Identity
import JSON
import Text

/// Keeps forms that were submitted after their session expired, or whose administrator has to confirm
/// their identity first, until the same administrator has done so in the same browser.
///
/// There's one for each path. They're kept without secrets. A cookie has the marks of their paths, so
/// that requests look for them only if there are any.
struct Drafts: Sendable {
  let storage: ConsoleStorage
  let cookies: ConsoleCookies

  /// What identifies a form in a browser: a digest of its path, as text.
  typealias Mark = UntrustedText

  struct Draft: Sendable {
    let target: Target
    /// The fields, without tokens, passwords, and codes.
    let answers: [Form.Entry]
    /// The names of secret fields, which were left out and have to be entered again.
    let secrets: [String]

    var mark: Mark { Drafts.mark(of: target.rawPath) }
  }

  static func canKeep(_ request: Request) -> Bool {
    let path = request.target.rawPath
    return ReturnAddress.isLocal(path) && ReturnAddress.current(request) != nil
      && path != ConsolePaths.sessionExtension()
  }

  static let addressField = "form-address"

  /// The parameter that says which form is reviewed.
  static let markField = "form"

  /// The page that reviews a kept form.
  static func address(_ mark: Mark) -> String {
    var query = Form()
    query.add(markField, mark.text)
    return query.query(of: ConsolePaths.keptAnswers())
  }

  /// Keeps the form of a request, for the browser that sent it; `other` is the address that the form
  /// is for, if it's another one than that of the request.
  ///
  /// - Returns: What identifies it; nil if it's too large.
  func keep(
    _ form: Form, sentTo other: Target? = nil, of request: Request,
    by administrator: ID<Administrator>
  ) async throws -> Mark? {
    let known = cookies.formToken(of: request)
    let browser = known ?? cookies.newFormToken()
    let target = other ?? request.target
    let path = target.rawPath
    // The page that keeps forms needs the field after a sign-in, too.
    let keepsAddress = [ConsolePaths.passkeyForm(), ConsolePaths.providerForm()].contains(path)
    let own = form.entries.filter { entry in
      switch entry.name {
      case "csrf": false
      case UntrustedText(Self.addressField): keepsAddress
      // What is used instead of a code makes it unnecessary.
      case "code": other == nil
      default: true
      }
    }
    let secrets = own.filter { Self.isSecret($0.name, sentTo: path) && !$0.value.isEmpty }
    let answers = own.filter { !Self.isSecret($0.name, sentTo: path) }
    let content = Secret(
      Self.encoded(target.address, answers, leftOut: secrets.map(\.name.text)))
    let mark = Self.mark(of: path)
    let subject = Self.subject(mark, browser)
    let isKept = try await storage.keep(
      content, as: .draft, about: subject, for: .administrator(administrator))
    guard isKept else { return nil }
    if known == nil { ResponseCookies.current?.set(cookies.form(browser)) }
    let marks = self.marks(of: request).filter { $0 != mark } + [mark]
    ResponseCookies.current?.set(cookies.draft(marks.suffix(ConsoleStorage.most)))
    return mark
  }

  /// Finds a form kept for an administrator in the browser: the one with the mark, or the newest if
  /// it's nil; nil if there's none, or too old.
  func find(
    _ mark: Mark? = nil, for administrator: ID<Administrator>, _ request: Request
  ) async -> Draft? {
    let marks = marks(of: request)
    guard let browser = cookies.formToken(of: request), !marks.isEmpty else { return nil }
    for mark in mark.map({ [$0] }) ?? marks.reversed() {
      guard
        let found = try? await storage.find(
          .draft, about: Self.subject(mark, browser), for: .administrator(administrator))
      else { continue }
      guard let draft = Self.decoded(found.revealedBytes) else { continue }
      return draft
    }
    return nil
  }

  /// The bytes that are kept of a form: a JSON array of its address, the names of its secrets, and the
  /// names and values of its fields.
  static func encoded(
    _ address: String, _ answers: [Form.Entry], leftOut secrets: [String]
  ) -> [UInt8] {
    JSON.array([
      .string(address), .array(secrets.map { .string($0) }),
      .array(answers.flatMap { [.text($0.name), .text($0.value)] }),
    ]).serialized()
  }

  static func decoded(_ bytes: [UInt8]) -> Draft? {
    guard let parts = (try? JSON.parse(bytes))?.arrayValue, parts.count == 3,
      let target = (parts[0].textValue?.text).flatMap({ Target($0) }),
      let secrets = parts[1].arrayValue,
      let fields = parts[2].arrayValue, fields.count.isMultiple(of: 2)
    else { return nil }
    let texts = fields.compactMap(\.textValue)
    guard texts.count == fields.count else { return nil }
    return Draft(
      target: target,
      answers: stride(from: 0, to: texts.count, by: 2).map { index in
        Form.Entry(name: texts[index], value: texts[index + 1])
      },
      secrets: secrets.compactMap(\.textValue?.text))
  }

  /// Returns the newest form kept for an administrator in the browser whose page is `next`, or the
  /// newest of all if the sign-in continues to no page.
  func find(
    continuingTo next: String?, among routes: [Route], for administrator: ID<Administrator>,
    _ request: Request
  ) async -> Draft? {
    guard let next else { return await find(for: administrator, request) }
    for mark in marks(of: request).reversed() {
      guard let draft = await find(mark, for: administrator, request),
        let page = ReturnAddress.checked(draft.target.rawPath, among: routes)
      else { continue }
      if page.isSameBytes(as: next) { return draft }
    }
    return nil
  }

  /// Deletes the browser's form for a path once a form is submitted to it.
  ///
  /// Forms submitted to other paths keep it, because setting up a second factor may come first.
  func forget(_ request: Request, by administrator: ID<Administrator>) async {
    let (marks, mark) = (marks(of: request), Self.mark(of: request.target.rawPath))
    guard marks.contains(mark), let browser = cookies.formToken(of: request) else { return }
    let rest = marks.filter { $0 != mark }
    ResponseCookies.current?.set(rest.isEmpty ? cookies.draft([]).ended : cookies.draft(rest[...]))
    // If it can't be deleted, it expires.
    _ = try? await storage.take(
      .draft, about: Self.subject(mark, browser), for: .administrator(administrator))
  }

  /// The forms that the browser's cookie names, oldest first.
  private func marks(of request: Request) -> [Mark] {
    let marks = (cookies.draft(of: request) ?? "").split(separator: ".")
    return marks.suffix(ConsoleStorage.most).map { Mark(String($0)) }
  }

  private static func subject(_ mark: Mark, _ browser: String) -> String {
    "\(browser) \(mark.text)"
  }

  static func mark(of path: String) -> Mark {
    Mark(Hex.encode(Array(HashFunction.sha256.digest(Array(path.utf8)).prefix(8))))
  }

  /// The fields of secrets; one that can be left empty is an ``OptionalSecret``.
  static let secrets: Set<UntrustedText> = [
    "password", "old-password", "new-password", "code", "current-code", "caller-code",
    UntrustedText(ActionInput.deviceCodes[0]), UntrustedText(ActionInput.deviceCodes[1]),
    UntrustedText(ActionInput.refusalCode), "token", "client-secret", "remote-credential",
  ]

  private static func isSecret(_ name: UntrustedText, sentTo path: String) -> Bool {
    if secrets.contains(name) { return true }
    // Of a setup; elsewhere, it's the number of a support ticket.
    return name == "ticket" && path.hasPrefix(ConsolePaths.account())
  }
}
