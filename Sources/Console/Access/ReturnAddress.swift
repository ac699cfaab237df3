import Crypto
import HTTP
import Identity
import Localization
import Templating
import Text

/// The address to continue to after sign-in.
///
/// It comes from a form or query that anyone can forge, so it's accepted only if it's a path that
/// matches a GET route of the console. This prevents open redirects.
enum ReturnAddress {
  static func current(_ request: Request) -> String? {
    let target = request.target
    guard !target.segments.isEmpty, target.segments != ["sign-out"],
      target.segments.first != "sign-in"
    else { return nil }
    return request.isReading ? target.address : target.rawPath
  }

  /// The address of a page that leads back to another one.
  static func of(_ path: String, backTo next: String?) -> String {
    var query = Form()
    if let next { query.add("next", next) }
    return query.query(of: path)
  }

  /// Returns the address if it's a page of the console or that of a kept form, or the page of the form
  /// at that address; otherwise nil.
  static func checked(_ text: String?, among routes: [Route]) -> String? {
    guard let text, text.utf8.count <= 2000, text.utf8.first == UInt8(ascii: "/"),
      isLocal(text), !text.contains("\\"), let target = Target(text)
    else { return nil }
    if target.rawPath.isSameBytes(as: ConsolePaths.keptAnswers()) { return text }
    guard
      !["sign-in", "sign-out", "setup", "invitation"].contains(target.segments.first)
    else { return nil }
    guard !isPage(target, routes) else { return text }
    guard routes.contains(where: { $0.fits(target) }) else { return nil }
    return page(above: target.rawPath, among: routes)
  }

  /// Returns the address of the nearest page above an address, such as that of a form; nil if
  /// there's none but the home page.
  static func page(above path: String, among routes: [Route]) -> String? {
    guard isLocal(path), !path.contains("\\") else { return nil }
    var page = path[...]
    while let end = page.utf8.lastIndex(of: UInt8(ascii: "/")), end != page.startIndex {
      page = page[..<end]
      if let target = Target(String(page)), isPage(target, routes) { return String(page) }
    }
    return nil
  }

  /// Whether a path can't lead to another host, as one that starts with two slashes does.
  static func isLocal(_ path: String) -> Bool { !path.hasPrefix("//") }

  private static func isPage(_ target: Target, _ routes: [Route]) -> Bool {
    routes.contains { $0.method == .get && $0.fits(target) }
  }
}

extension Target {
  /// The path and the query, as sent.
  var address: String { rawQuery.map { rawPath + "?" + $0 } ?? rawPath }
}

extension Route {
  func fits(_ target: Target) -> Bool {
    components.count == target.segments.count
      && zip(components, target.segments).allSatisfy { component, segment in
        switch component {
        case .literal(let text): segment == UntrustedText(text)
        case .parameter(let suffix): segment.utf8.count > suffix.utf8.count
        }
      }
  }
}

struct SignInCompletion: Sendable {
  let authorizer: RequestAuthorizer
  let frames: Frames

  /// Sets the cookies of the session and redirects to the form of `next` stored when the previous
  /// session expired, or else to `next`.
  ///
  /// Without `next`, it redirects to the newest stored form, or else to the start page.
  func response(
    _ new: NewConsoleSession, _ visitor: Visitor, to next: String? = nil,
    among destinations: [Route] = []
  ) async -> Response {
    let session = new.session
    let draft = await authorizer.drafts.find(
      continuingTo: next, among: destinations, for: session.administrator.id, visitor.request)
    if session.secondFactor == .dueNext { frames.adviseSecondFactor(session) }
    var response = Response.redirect(
      to: draft.map { Drafts.address($0.mark) } ?? next ?? ConsolePaths.home())
    response.set(authorizer.cookies.session(new.token.revealedText))
    // Without the device token, the next sign-in is only treated as one from an unknown device.
    if let device = try? authorizer.identity.consoleSessions.deviceToken(
      for: session.administrator.id, replacing: authorizer.cookies.devices(of: visitor.request))
    {
      response.set(authorizer.cookies.device(device.revealedText, of: session.administrator.id))
    }
    if let theme = authorizer.cookies.newTheme(session.preferences.theme, for: visitor.request) {
      response.set(theme)
    }
    if authorizer.cookies.pending(of: visitor.request) != nil {
      response.set(authorizer.cookies.pending("").ended)
    }
    return response
  }
}

extension Frames {
  fileprivate func adviseSecondFactor(_ session: ConsoleSession) {
    let flash = Flash(
      text: Message("Your role requires a second factor starting with your next sign-in."),
      link: Link(text: Message("Set it up now"), href: ConsolePaths.ownFactor()))
    flashes.leave(flash, for: session)
  }
}

/// A link to the page that confirms the administrator's identity at the provider.
struct ProviderConfirmation: ViewModel, Sendable {
  let name: String
  let href: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
  ]
}

extension SignedIn {
  /// The page that sets up an own second factor and leads back to this page.
  var ownFactor: String {
    ReturnAddress.of(ConsolePaths.ownFactor(), backTo: ReturnAddress.current(request))
  }

  /// The page to lead back to, which the address or the form names; nil if there's none.
  func next(among destinations: [Route]) -> String? {
    ReturnAddress.checked(
      request.isReading ? query.text("next") : form.text("next"), among: destinations)
  }

  /// The page that confirms the administrator's identity at the provider and leads back to this
  /// page; nil if they aren't linked.
  var providerReauthentication: ProviderConfirmation? {
    session.provider.name.map { name in
      ProviderConfirmation(
        name: name,
        href: ReturnAddress.of(
          ConsolePaths.providerReauthentication(), backTo: ReturnAddress.current(request)))
    }
  }
}

/// `/`: leads to the page that an administrator's work begins with.
enum StartPage {
  static func show(_ signedIn: SignedIn) async throws -> Response {
    .redirect(to: address(for: signedIn.administrator))
  }

  /// The search for users for those who only support them, the policy review for those who only
  /// read and sign off, and the projects for all others.
  static func address(for administrator: Administrator) -> String {
    if administrator.maySomewhere(.changePolicy) { return ConsolePaths.projects() }
    if administrator.maySomewhere(.removeFactors) { return ConsolePaths.findUsers() }
    if administrator.maySomewhere(.signOffReview) { return ConsolePaths.reviews() }
    return ConsolePaths.projects()
  }
}
