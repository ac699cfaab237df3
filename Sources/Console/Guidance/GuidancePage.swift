import HTTP
import Identity
import Localization
import Templating

/// `/guidance` and the guides below it.
///
/// Opened from a pool (`?project=…&tenant=…`), guides show its values.
struct GuidancePage: Sendable {
  let guides: Guides
  let authorizer: RequestAuthorizer
  let frames: Frames
  let index: Template<GuidanceView>
  let view: Template<GuideView>

  private var identity: Identity { authorizer.identity }

  func list(_ signedIn: SignedIn) async throws -> Response {
    let guides = try installed()
    let place = try await place(signedIn)
    let frame = try await frame(Message("Guides"), signedIn, place)
    return .html(
      index.render(
        GuidanceView(
          frame: FrameView(frame), place: place.map { GuidePoolView($0, ConsolePaths.guidance()) },
          guides: links(guides, current: nil, place))))
  }

  func show(_ signedIn: SignedIn, _ name: String) async throws -> Response {
    let guides = try installed()
    guard let guide = guides.first(where: { $0.pattern.rawValue == name }) else {
      throw Refusal.notFound
    }
    let place = try await place(signedIn)
    var frame = try await frame(
      Message("{title} · Guides", ["title": .message(guide.pattern.name)]), signedIn, place)
    let list = place?.pool.guidance() ?? ConsolePaths.guidance()
    frame.crumbs.append(Link(text: Message("Guides"), href: list))
    let chosen = signedIn.query.text("platform").flatMap(GuidePlatform.init(rawValue:))
    let cookies = authorizer.cookies
    var response = Response.html(
      view.render(
        GuideView(
          frame: FrameView(frame), guide: guide, publicURL: frames.publicURL, place: place,
          platform: chosen ?? cookies.platform(of: signedIn.request) ?? .web,
          cookie: cookies.platform, guides: links(guides, current: name, place))))
    if let chosen { response.fields.add(.setCookie, cookies.platform(chosen).description) }
    return response
  }

  private func place(_ signedIn: SignedIn) async throws -> GuidePool? {
    guard let project = signedIn.query.text("project"), !project.isEmpty else { return nil }
    let tenant = signedIn.query.text("tenant").flatMap { $0.isEmpty ? nil : $0 }
    let context = try await authorizer.pool(signedIn, project, tenant, needing: .seePool)
    var policy: Policy?
    if context.may(.readPolicy) {
      do { policy = try await identity.policies.read(context.pool) } catch is PolicyError {
        throw Refusal.notFound
      }
    }
    let key = try await ProjectKey(context, identity.apiKeys)
    return GuidePool(context: context, policy: policy, key: key)
  }

  private func frame(
    _ title: Message, _ signedIn: SignedIn, _ place: GuidePool?
  ) async throws -> Frame {
    guard let place else { return await frames.frame(title, for: signedIn) }
    var frame = try await frames.frame(title, in: place.context)
    if place.context.may(.readPolicy) {
      frame.crumbs = [
        Link(text: Message("MFA policy"), href: ConsolePaths.policy(place.pool))
      ]
    }
    return frame
  }

  private func installed() throws -> [Guides.Guide] {
    try guides.all()
  }

  private func links(
    _ guides: [Guides.Guide], current: String?, _ place: GuidePool?
  ) -> [GuideLink] {
    guides.map { guide in
      let path = ConsolePaths.guide(guide.pattern.rawValue)
      return GuideLink(
        pattern: guide.pattern, href: place?.pool.guidance(path) ?? path,
        title: guide.pattern.name,
        summary: guide.summary, isCurrent: guide.pattern.rawValue == current,
        isRecorded: guide.pattern == place?.policy?.pattern)
    }
  }
}

struct GuidePool: Sendable {
  let context: PoolContext
  /// Nil if the reader can't view it.
  let policy: Policy?
  let key: ProjectKey

  var pool: Pool { context.pool }

  func values(_ publicURL: PublicURL) -> GuideValues {
    GuideValues(publicURL, pool: pool, key: key.key, configuration: policy?.configuration)
  }
}

struct GuidanceView: ViewModel {
  let frame: FrameView
  let place: GuidePoolView?
  let guides: [GuideLink]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .optional(\.place),
    .list(\.guides),
  ]
}

struct GuideView: ViewModel {
  let frame: FrameView
  let guide: Guides.Guide
  let text: Markup
  let place: GuidePoolView?
  let platform: GuidePlatform
  let cookie: String
  let facts: [Fact]
  let guides: [GuideLink]

  init(
    frame: FrameView, guide: Guides.Guide, publicURL: PublicURL, place: GuidePool?,
    platform: GuidePlatform, cookie: String, guides: [GuideLink]
  ) {
    self.frame = frame
    self.platform = platform
    self.cookie = cookie
    self.guide = guide
    self.guides = guides
    let values = place?.values(publicURL) ?? GuideValues(publicURL)
    text = guide.text.markup(values)
    self.place = place.map {
      GuidePoolView($0, ConsolePaths.guide(guide.pattern.rawValue))
    }
    facts = place.map { Self.facts($0, values) } ?? []
  }

  private static func facts(_ place: GuidePool, _ values: GuideValues) -> [Fact] {
    var facts = [
      Fact(Message("Address"), code(values[.address])),
      Fact(Message("Project ID"), code(place.pool.project.text)),
    ]
    if let tenant = place.pool.tenant {
      facts.append(Fact(Message("Tenant ID"), code(tenant.text)))
    }
    let key =
      place.key.key.map { code($0.text) }
      ?? place.key.note.map { Markup(escaping: $0.message) } ?? HTML().markup
    facts.append(Fact(Message("API key"), key))
    if let policy = place.policy {
      facts.append(
        Fact(Message("Current window"), WindowStrip.small(policy.configuration)))
      facts.append(
        Fact(
          Message("Enrollment pattern"),
          policy.edit.patternName ?? Message("none recorded")))
    }
    return facts
  }

  private static func code(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"mono\" data-copy>")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.guide.pattern.name },
    .markup(\.text),
    .optional(\.place),
    .list(\.facts),
    .text("action") { ConsolePaths.guide($0.guide.pattern.rawValue) },
    .text(\.cookie),
    .list("platforms") { view in
      GuidePlatform.allCases.map {
        GuidePlatformChoice(platform: $0, isChosen: $0 == view.platform)
      }
    },
    .list("headings") { $0.guide.text.headings },
    .list(\.guides),
  ]
}

struct GuidePoolView: ViewModel {
  let place: GuidePool
  /// The address of the same page without values.
  let plain: String

  init(_ place: GuidePool, _ plain: String) {
    self.place = place
    self.plain = plain
  }

  private var isOff: Bool { place.policy.map { !$0.configuration.isTOTPOn } ?? false }

  static let keys: Keys<Self> = [
    .text("name") { $0.place.pool.name },
    .text("projectID") { $0.place.pool.project.text },
    .text("tenantID") { $0.place.pool.tenant?.text },
    .text(\.plain),
    .flag("isOff") { $0.isOff },
    .text("own") { ConsolePaths.poolGuidance($0.place.pool) },
    .text("policy") {
      $0.place.context.may(.readPolicy) ? ConsolePaths.policy($0.place.pool) : nil
    },
  ]
}

struct GuideLink: ViewModel {
  let pattern: EnrollmentPattern
  let href: String
  let title: Message
  let summary: String
  let isCurrent: Bool
  /// Whether the pattern is the one recorded for the pool that the guides were opened from.
  let isRecorded: Bool

  static let keys: Keys<Self> = [
    .text(\.href),
    .text(\.title),
    .text(\.summary),
    .flag(\.isCurrent),
    .flag(\.isRecorded),
    .text("who") { $0.pattern.comparison.who },
    .text("friction") { $0.pattern.comparison.friction },
    .text("risk") { $0.pattern.comparison.risk },
    .text("code") { $0.pattern.comparison.code },
  ]
}

extension EnrollmentPattern {
  fileprivate var comparison: (who: Message, friction: Message, risk: Message, code: Message) {
    switch self {
    case .mandatory:
      (
        Message("Everyone"), Message("High: no access without an authenticator app"),
        Message("Low: no password-only accounts, once your server checks"),
        Message("A sign-up step, and a check on your server for every request")
      )
    case .skippable:
      (
        Message("Most users, over several weeks"), Message("Low: one page that users can skip"),
        Message("Medium: users who choose “later” have only a password"),
        Message("A prompt, a record of who declined, and sign-in with and without a code")
      )
    case .account:
      (
        Message("The few who look for it"), Message("None, unless users opt in"),
        Message("High for everyone else: nothing changes for them"),
        Message("An account page section, and sign-in with and without a code")
      )
    case .stepUp:
      (
        Message("Users of sensitive features"),
        Message("Low: only when a sensitive feature is used"),
        Message("Low for those features, unchanged elsewhere"),
        Message("A check on your server for each such feature, and a way to return to it")
      )
    }
  }
}

/// The support playbooks of projects and tenants, and the guides to the enrollment patterns.
enum GuidanceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let poolGuidance = PoolGuidancePage(
      guidance: identity.guidance, prose: parts.prose, frames: frames,
      view: try parts.template("guidance/pool", for: PoolGuidanceView.self))
    table.inPool(.get, ConsolePaths.poolGuidance, .seePool, poolGuidance.show)

    let editor = GuidanceEditorPage(
      guidance: identity.guidance, frames: frames,
      view: try parts.template("guidance/edit", for: GuidanceEditorView.self))
    table.inPool(.get, ConsolePaths.guidanceEditor, .changePool, editor.show)
    table.inPool(
      ConsolePaths.guidanceEditor, preparing: [.editGuidance],
      PreviewGuidance(editor: editor).perform)
    table.inPool(
      ConsolePaths.guidanceVersions, performing: [.editGuidance],
      SaveGuidance(editor: editor).perform)

    let guidance = GuidancePage(
      guides: parts.guides, authorizer: parts.authorizer, frames: frames,
      index: try parts.template("guidance/index", for: GuidanceView.self),
      view: try parts.template("guidance/guide", for: GuideView.self))
    table.signedIn(.get, ConsolePaths.guidance, nil, guidance.list)
    table.signedIn(.get, ConsolePaths.guide, nil, guidance.show)
  }
}

extension ConsolePaths {
  static let guidance = Path("guidance")
  static let guide = Path("guidance", nil, parameters: String.self)
  static let poolGuidance = PoolPath0("guidance")
  static let guidanceEditor = PoolPath0("guidance", "edit")
  static let guidanceVersions = PoolPath0("guidance", "versions")
}
