import Crypto
import HTTP
import Identity
import JSON
import Localization
import Text

/// Keeps flash messages until the session's next page, and what was typed in the form on it.
///
/// A flash is in a cookie, encrypted for the session, so that no one can inject text into another
/// person's page, and neither leaving nor showing one needs the database.
struct Flashes: Sendable {
  let storage: ConsoleStorage
  let cookies: ConsoleCookies
  let catalog: Catalog

  /// The maximum length of a text in characters, which no message should reach.
  private static let longest = 600

  func leave(_ flash: Flash, for session: ConsoleSession) {
    let content: JSON = [
      "text": .string(text(flash.text)), "alert": .bool(flash.isAlert),
      "link": flash.link.map { .string(text($0.text)) } ?? .null,
      "href": flash.link.map { .string($0.href) } ?? .null,
    ]
    let notice = String(decoding: content.serialized(), as: UTF8.self)
    guard let sealed = storage.sealedNotice(notice, for: session) else { return }
    ResponseCookies.current?.set(cookies.flash(sealed))
  }

  private func text(_ message: Message) -> String {
    String(catalog.text(message).prefix(Self.longest))
  }

  /// Returns the session's flash, which the browser then removes; nil if there's none or it's too
  /// old.
  func take(from request: Request, for session: ConsoleSession) -> Flash? {
    guard let sealed = cookies.flash(of: request) else { return nil }
    if let response = ResponseCookies.current, !response.has(cookies.flashName) {
      response.set(cookies.endOfFlash)
    }
    guard let notice = storage.notice(sealed, for: session),
      let content = try? JSON.parse(Array(notice.utf8)), let text = content["text"]?.textValue
    else { return nil }
    var link: Link?
    if let title = content["link"]?.textValue, let href = content["href"]?.textValue {
      link = Link(text: Message.verbatim(title.text), href: href.text)
    }
    return Flash(
      text: Message.verbatim(text.text), isAlert: content["alert"]?.boolValue ?? false, link: link)
  }

  /// Keeps the fields of a form for the page that shows the session's flash, without secrets.
  func keep(_ form: Form, of address: String, for session: ConsoleSession) async {
    let left = ["csrf", "return", "code", "caller-code"]
    let typed = Form(form.entries.filter { !left.contains($0.name.text) })
    // Without them, the form is empty.
    _ = try? await storage.keep(
      Secret(typed.urlEncoded), as: .fields, about: address, for: .session(session))
  }

  /// Removes and returns the fields of the form at an address; nil if none were kept.
  ///
  /// Fields are kept along with a flash, so other requests don't look for them.
  func form(of address: String, from request: Request, for session: ConsoleSession) async -> Form? {
    guard cookies.flash(of: request) != nil else { return nil }
    let found = try? await storage.take(.fields, about: address, for: .session(session))
    return found.flatMap { $0 }.flatMap { Form(urlEncoded: $0.revealedText) }
  }
}
