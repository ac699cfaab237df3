import Crypto
import HTTP
import Identity
import JSON
import Localization
import MailText
import Templating
import Text

struct Frames: Sendable {
  let assets: ConsoleAssets
  let publicURL: PublicURL
  let identity: Identity
  let catalog: Catalog
  let menu: Template<PoolMenu>
  let sidebar: Sidebar
  let flashes: Flashes
  private let menus = MarkupCache<PoolMenu>()

  /// The maximum number of projects or tenants in a menu; the rest are on the list page.
  static let menuLength = 10

  var clock: WallClock { identity.clock }

  /// Redirects to a page that shows the message.
  func leave(_ text: Message, for signedIn: SignedIn, to path: String) -> Response {
    leave(Flash(text: text), signedIn, renewed: nil, to: path)
  }

  /// Redirects to a page that shows the flash, if there is one, and sets the new session cookie if
  /// the administrator entered a code.
  func leave(
    _ flash: Flash?, _ signedIn: SignedIn, renewed: NewConsoleSession?, to path: String
  ) -> Response {
    if let flash { flashes.leave(flash, for: renewed?.session ?? signedIn.session) }
    return renewing(renewed, in: .redirect(to: path))
  }

  /// Returns the response with the new session cookie, if the session's token was renewed.
  func renewing(_ renewed: NewConsoleSession?, in response: Response) -> Response {
    var response = response
    if let renewed { response.set(cookies.session(renewed.token.revealedText)) }
    return response
  }

  var cookies: ConsoleCookies { flashes.cookies }

  /// Counts the users of a pool whom a page lists.
  func record(_ users: Int, shownIn context: PoolContext) async throws {
    try await identity.accounts.recordShown(
      .pools([DownloadedUsers.PoolCount(context.pool, count: users)]), by: context.signedIn.author)
  }

  /// The frame for visitors who aren't signed in, with the theme that the browser remembers, and for
  /// error pages, which can be without a request.
  func bare(
    _ title: Message, for request: Request?, path: String = "/"
  ) -> Frame {
    var frame = plain(title, path: path, times: Times(catalog))
    frame.theme = request.flatMap { cookies.theme(of: $0)?.attribute }
    return frame
  }

  /// The frame of a form for visitors who aren't signed in.
  func bare(
    _ title: Message, for visitor: Visitor, path: String, errors: [FieldError] = []
  ) -> Frame {
    var frame = bare(title, for: visitor.request, path: path)
    (frame.csrf, frame.errors) = (visitor.formToken, errors)
    return frame
  }

  private func plain(_ title: Message, path: String, times: Times) -> Frame {
    Frame(
      title: title, stylesheet: assets.stylesheet, script: assets.script,
      settingsScript: assets.settingsScript, icon: assets.icon,
      home: ConsolePaths.home(), address: publicURL.origin + path, times: times,
      isNarrow: true, catalog: catalog)
  }

  /// The frame for end users of an application, with its name and without links into the console.
  func outside(
    _ title: Message, for visitor: Visitor, path: String, of pool: Pool?,
    errors: [FieldError] = []
  ) -> Frame {
    var frame = plain(title, path: path, times: Times(catalog))
    (frame.csrf, frame.errors) = (visitor.formToken, errors)
    frame.brand = pool.map { Formatted.short($0.projectName) } ?? publicURL.host
    frame.home = nil
    return frame
  }

  /// The frame of a page of all projects, which says when the connected ones were read.
  func frame(ofAll title: Message, for signedIn: SignedIn) async throws -> Frame {
    var frame = await frame(title, for: signedIn)
    if !identity.connections.known.isEmpty {
      frame.readAt = try await identity.connections.readAt().values.min().map(signedIn.times.past)
    }
    return frame
  }

  /// The frame of pages that belong to no project.
  func frame(
    _ title: Message, for signedIn: SignedIn, crumbs: [Link] = [], errors: [FieldError] = []
  ) async -> Frame {
    var frame = await unflashed(
      title, for: signedIn, path: Self.printedAddress(signedIn.request.target))
    frame.flash = flashes.take(from: signedIn.request, for: signedIn.session)
    (frame.crumbs, frame.errors) = (crumbs, errors)
    return frame
  }

  /// The frame of a form about the administrator's own account.
  func account(
    _ title: Message, _ signedIn: SignedIn, errors: [FieldError] = []
  ) async -> Frame {
    await belowAccount(
      Message("{title} · Your account", ["title": .message(title)]), signedIn, errors: errors)
  }

  /// The frame of a page below the administrator's own account, without navigation until the session
  /// has what it must have: every other page redirects to one that these pages lead to.
  func belowAccount(
    _ title: Message, _ signedIn: SignedIn, errors: [FieldError] = []
  ) async -> Frame {
    var frame = await frame(title, for: signedIn, errors: errors)
    if signedIn.session.secondFactor.isReady {
      frame.crumbs = [Link(text: Message("Your account"), href: ConsolePaths.account())]
    } else {
      (frame.sidebar, frame.find) = (nil, nil)
    }
    return frame
  }

  /// The path and query of a page as it's printed; an ellipsis replaces a query of over 500 bytes.
  ///
  /// No query of these pages has a secret: the pages behind emailed links have other frames.
  private static func printedAddress(_ target: Target) -> String {
    (target.rawQuery?.utf8.count ?? 0) > 500 ? target.rawPath + "?…" : target.address
  }

  /// The same frame without the session's flash, which stays stored for its next page.
  func unflashed(
    _ title: Message, for signedIn: SignedIn, path: String = "/"
  ) async -> Frame {
    let place = PageEntry.Place(signedIn.request.target, in: nil)
    var frame = await own(title, path: path, for: signedIn, in: nil, at: place)
    navigate(&frame, at: place, in: nil, for: signedIn.administrator, users: nil)
    return frame
  }

  private func own(
    _ title: Message, path: String, for signedIn: SignedIn, in pool: Pool?,
    at place: PageEntry.Place
  ) async -> Frame {
    var frame = plain(title, path: path, times: signedIn.times)
    frame.isNarrow = false
    frame.asOf = signedIn.times.moment(clock.now())
    frame.home = StartPage.address(for: signedIn.administrator)
    frame.theme = signedIn.theme
    frame.csrf = signedIn.session.csrfToken
    frame.account = account(signedIn, in: pool, at: place)
    frame.session = SessionNotice(signedIn, script: assets.sessionScript, at: clock.now())
    frame.approvals = await approvals(signedIn)
    frame.find = find(signedIn)
    frame.clock = clock(for: signedIn)
    frame.passkeyReauthentication = signedIn.passkeyReauthentication
    frame.providerReauthentication = signedIn.providerReauthentication
    frame.ownFactor = signedIn.ownFactor
    return frame
  }

  /// `users` is the number of the pool's users, if the page has read it.
  func frame(
    _ title: Message, in context: PoolContext, users: Int? = nil, crumbs: [Link] = [],
    errors: [FieldError] = []
  ) async throws -> Frame {
    var frame = try await frame(title, context.signedIn, pool: context.pool, users: users)
    (frame.crumbs, frame.errors) = (crumbs, errors)
    return frame
  }

  func frame(
    _ title: Message, in context: ProjectContext, crumbs: [Link] = [], errors: [FieldError] = []
  ) async throws -> Frame {
    var frame = try await frame(title, context.signedIn, pool: context.pool)
    (frame.crumbs, frame.errors) = (crumbs, errors)
    return frame
  }

  private func frame(
    _ title: Message, _ signedIn: SignedIn, pool: Pool, users: Int? = nil
  ) async throws -> Frame {
    let administrator = signedIn.administrator
    let project = Message.Value.name(Formatted.short(pool.projectName))
    let whole =
      pool.tenant == nil
      ? Message("{title} · {project}", ["title": .message(title), "project": project])
      : Message(
        "{title} · {tenant} · {project}",
        [
          "title": .message(title), "tenant": .name(Formatted.short(pool.name)),
          "project": project,
        ])
    let target = signedIn.request.target
    let place = PageEntry.Place(target, in: pool)
    var frame = await own(
      whole, path: Self.printedAddress(target), for: signedIn, in: pool, at: place)
    frame.flash = flashes.take(from: signedIn.request, for: signedIn.session)
    frame.project = try await projectMenu(pool, administrator)
    frame.tenant = try await tenantMenu(pool, administrator)
    frame.kind = pool.kind.chip
    if pool.kind != .hosted {
      let readAt = try await identity.connections.readAt(of: pool.project)
      frame.readAt = readAt[pool.project].map(signedIn.times.past)
    }
    var users = users
    if users == nil, administrator.may(.findUsers, in: pool) {
      users = try await identity.accounts.count(pool)
    }
    navigate(&frame, at: place, in: pool, for: administrator, users: users)
    return frame
  }

  private func navigate(
    _ frame: inout Frame, at place: PageEntry.Place, in pool: Pool?,
    for administrator: Administrator, users: Int?
  ) {
    let navigation = sidebar.navigation(
      at: place, in: pool, for: administrator, users: users, approvals: frame.approvals)
    (frame.sidebar, frame.tabs) = (navigation.sidebar, navigation.tabs)
  }

  /// The number of requests that await the administrator's approval; nil without the permission to
  /// see them.
  private func approvals(_ signedIn: SignedIn) async -> Int? {
    let administrator = signedIn.administrator
    guard administrator.maySomewhere(.seeApprovals) else { return nil }
    // A page may show a secret for the only time, and doesn't fail without the number.
    return try? await identity.approvals.count(for: administrator)
  }

  /// The search across all that the administrator can access; nil when there's nothing.
  private func find(_ signedIn: SignedIn) -> FindForm? {
    let administrator = signedIn.administrator
    guard !administrator.grants.isEmpty else { return nil }
    let start = StartPage.address(for: administrator)
    return FindForm(
      findsUsers: administrator.maySomewhere(.findUsers),
      isFocused: signedIn.request.target.address.isSameBytes(as: start))
  }

  func clock(for signedIn: SignedIn) -> ClockBanner? {
    identity.clockGuard.doubt.map {
      ClockBanner(
        $0, mayConfirm: signedIn.administrator.may(.protectUsers, in: nil), signedIn.times)
    }
  }

  private func account(
    _ signedIn: SignedIn, in pool: Pool?, at place: PageEntry.Place
  ) -> AccountMenu {
    let administrator = signedIn.administrator
    return AccountMenu(
      name: administrator.displayName,
      role: administrator.role(in: pool)?.name ?? Message("no role"),
      email: administrator.email, isCurrent: PageEntry.account.length(at: place) != nil)
  }

  private func projectMenu(
    _ pool: Pool, _ administrator: Administrator
  ) async throws -> Markup {
    let names = try await identity.pools.projectNames(
      visibleTo: administrator, limit: Self.menuLength)
    let places = names.map { id, name in
      PoolMenu.Place(
        id: id.text, name: name, isOpen: administrator.may(.seePool, project: id, tenant: nil))
    }
    return drawn(
      PoolMenu(
        name: .verbatim(pool.projectName), places: places, current: pool.project.text,
        project: nil))
  }

  private func tenantMenu(
    _ pool: Pool, _ administrator: Administrator
  ) async throws -> Markup? {
    let names = try await identity.pools.tenantNames(
      project: pool.project, visibleTo: administrator, limit: Self.menuLength)
    guard pool.tenant != nil || !names.isEmpty else { return nil }
    let places = names.map { id, name in
      PoolMenu.Place(id: id.text, name: name, isOpen: true)
    }
    return drawn(
      PoolMenu(
        name: pool.tenant == nil ? Message("Choose a tenant") : .verbatim(pool.name),
        places: places,
        current: pool.tenant?.text, project: pool.project.text))
  }

  private func drawn(_ menu: PoolMenu) -> Markup {
    menus.joined([menu]) { self.menu.render($0) }
  }
}

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
      response.set(cookies.flash("").ended)
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
    let left = ["csrf", "return", "code", "caller-code"] + ActionInput.deviceCodes
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
