import Crypto
import HTTP
import Identity
import Text

/// Keeps forms that were submitted after their session expired, until the same administrator has
/// signed in again in the same browser.
///
/// They're kept without secrets. A cookie tells that there's one, and for which address, so that
/// other requests don't look for it.
struct Drafts: Sendable {
  let storage: ConsoleStorage
  let cookies: ConsoleCookies

  /// A submitted form.
  struct Draft: Sendable {
    /// The path that the form was submitted to.
    let path: String
    /// The fields, without tokens, passwords, and codes.
    let answers: [Form.Entry]
    /// Whether secret fields were left out and have to be entered again.
    let lacksSecrets: Bool
  }

  /// Keeps a form for the browser with a form token.
  ///
  /// - Returns: False if the form is too large.
  func keep(
    _ form: Form, sentTo path: String, by administrator: ID<Administrator>, browser: String
  ) async -> Bool {
    let own = form.entries.filter { $0.name != "csrf" }
    let answers = own.filter { !Self.isSecret($0.name, sentTo: path) }
    // A secret that can be left empty would be missing from the form without anyone being asked.
    guard !path.hasPrefix("//"),
      !own.contains(where: { Self.optionalSecrets.contains($0.name.text) && !$0.value.isEmpty })
    else { return false }
    let flag = answers.count < own.count ? "1" : "0"
    let content = Secret("\(path)\n\(flag)\n\(Form(answers).urlEncoded)")
    // Without the draft, the administrator enters the form again.
    let isKept = try? await storage.keep(
      content, as: .draft, about: browser, for: .administrator(administrator))
    guard isKept == true else { return false }
    ResponseCookies.current?.set(cookies.draft(Self.mark(of: path)))
    return true
  }

  /// Returns the form kept for an administrator in the browser; nil if there's none, or too old.
  func find(for administrator: ID<Administrator>, _ request: Request) async -> Draft? {
    guard cookies.draft(of: request) != nil, let browser = cookies.formToken(of: request),
      let found = try? await storage.find(
        .draft, about: browser, for: .administrator(administrator))
    else { return nil }
    let parts = found.revealedText.split(
      separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let form = Form(urlEncoded: String(parts[2])) else { return nil }
    return Draft(path: String(parts[0]), answers: form.entries, lacksSecrets: parts[1] == "1")
  }

  /// Deletes the browser's form once a form is submitted to the same path.
  ///
  /// Forms submitted to other paths keep it, because setting up a second factor may come first.
  func forget(_ request: Request, by administrator: ID<Administrator>) async {
    guard let mark = cookies.draft(of: request), let browser = cookies.formToken(of: request),
      mark.isSameBytes(as: Self.mark(of: request.target.rawPath))
    else { return }
    ResponseCookies.current?.set(cookies.endOfDraft)
    // If it can't be deleted, it expires.
    _ = try? await storage.take(.draft, about: browser, for: .administrator(administrator))
  }

  /// What the cookie tells about the path.
  private static func mark(of path: String) -> String {
    Hex.encode(Array(HashFunction.sha256.digest(Array(path.utf8)).prefix(8)))
  }

  /// The fields of secrets that a form requires.
  static let secrets: Set<String> = [
    "password", "old-password", "new-password", "code", "current-code", "caller-code",
    ApprovalView.refusalCode, "token",
  ]
  /// The fields of secrets that can be left empty, to keep the stored one or to have one made.
  static let optionalSecrets: Set<String> = ["client-secret", "secret"]

  private static func isSecret(_ name: UntrustedText, sentTo path: String) -> Bool {
    let name = name.text
    if secrets.contains(name) || optionalSecrets.contains(name) { return true }
    // Of a setup; elsewhere, it's the number of a support ticket.
    return name == "ticket" && path.hasPrefix(ConsolePaths.account())
  }
}
