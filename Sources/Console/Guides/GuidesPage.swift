import HTTP
import Identity
import Localization
import Templating

/// `/guides` and the guides below it, which are open to everyone.
///
/// Opened from a pool (`?project=…&tenant=…`) in a session, guides show its values. Without one,
/// nothing of a pool is read, so a page doesn't tell whether there's such a pool.
struct GuidesPage: Sendable {
  let guides: Guides
  let authorizer: RequestAuthorizer
  let frames: Frames
  let index: Template<GuidesView>
  let view: Template<GuideView>

  private var identity: Identity { authorizer.identity }

  func list(_ visitor: Visitor) async throws -> Response {
    let library = try guides.all()
    let reader = try await reader(visitor)
    let frame = try await frame(Message("Guides"), reader)
    return .html(
      index.render(
        GuidesView(
          frame: FrameView(frame), reader: reader, overview: library.overview,
          values: reader.values(frames.publicURL), guides: links(library, current: nil, reader))))
  }

  func show(_ visitor: Visitor, _ name: String, _ tab: GuideTab) async throws -> Response {
    let library = try guides.all()
    guard let topic = GuideTopic(rawValue: name), let part = library.part(topic, tab) else {
      throw Refusal.notFound
    }
    let reader = try await reader(visitor)
    let title = Message(
      "{guide} · {tab} · Guides", ["guide": .message(topic.name), "tab": .message(tab.name)])
    var frame = try await frame(title, reader)
    frame.crumbs.append(Link(text: Message("Guides"), href: reader.href(ConsolePaths.guides())))
    let chosen = visitor.request.target.query.text("platform")
      .flatMap(GuidePlatform.init(rawValue:))
    let cookies = authorizer.cookies
    let kept = cookies.platform(of: visitor.request)
    var response = Response.html(
      view.render(
        GuideView(
          frame: FrameView(frame), reader: reader, topic: topic, tab: tab, text: part.text,
          values: reader.values(frames.publicURL),
          platform: chosen ?? kept.flatMap(GuidePlatform.init(rawValue:)) ?? .web,
          cookie: cookies.platform, guides: links(library, current: topic, reader))))
    if let chosen { response.set(cookies.platform(chosen.rawValue)) }
    return response
  }

  /// A session that isn't complete yet reads as a visitor does.
  private func reader(_ visitor: Visitor) async throws -> GuideReader {
    let request = visitor.request
    let known = await authorizer.known(request)
    let named = request.target.query.text("project").flatMap { $0.isEmpty ? nil : $0 }
    guard let signedIn = known, let project = named else {
      return GuideReader(request: request, signedIn: known, namesPool: named != nil)
    }
    let tenant = request.target.query.text("tenant").flatMap { $0.isEmpty ? nil : $0 }
    let context = try await authorizer.pool(signedIn, project, tenant, needing: .seePool)
    var policy: Policy?
    if context.may(.readPolicy) { policy = try await identity.policies.read(context.pool) }
    let key = try await ProjectKey(context, identity.apiKeys)
    return GuideReader(
      request: request, signedIn: signedIn, namesPool: true,
      place: GuidePool(context: context, policy: policy, key: key))
  }

  private func frame(_ title: Message, _ reader: GuideReader) async throws -> Frame {
    guard let signedIn = reader.signedIn else {
      var frame = frames.bare(title, for: reader.request, path: reader.request.target.rawPath)
      frame.isNarrow = false
      return frame
    }
    guard let place = reader.place else { return await frames.frame(title, for: signedIn) }
    var frame = try await frames.frame(title, in: place.context)
    if place.context.may(.readPolicy) {
      frame.crumbs = [
        Link(text: Message("MFA policy"), href: ConsolePaths.policy(place.pool))
      ]
    }
    return frame
  }

  private func links(
    _ library: GuideLibrary, current: GuideTopic?, _ reader: GuideReader
  ) -> [GuideLink] {
    GuideTopic.allCases.map { topic in
      GuideLink(
        href: reader.href(topic.path()), title: topic.name,
        summary: library.part(topic, .concept)?.summary ?? "", isCurrent: topic == current,
        isRecorded: topic.pattern != nil && topic.pattern == reader.place?.policy?.pattern)
    }
  }
}

/// What a guide is about: an enrollment pattern, or what all patterns share.
enum GuideTopic: String, CaseIterable, Sendable {
  case mandatory, skippable, account
  case stepUp = "step-up"
  case common

  var pattern: EnrollmentPattern? { EnrollmentPattern(rawValue: rawValue) }

  var name: Message { pattern?.name ?? Message("All patterns") }

  func path(_ tab: GuideTab = .concept) -> String {
    switch tab {
    case .concept: ConsolePaths.guide(rawValue)
    case .build: ConsolePaths.guideBuild(rawValue)
    case .operate: ConsolePaths.guideOperate(rawValue)
    }
  }
}

/// A guide's parts, each on a separate page.
enum GuideTab: String, CaseIterable, Sendable {
  case concept, build, operate

  var name: Message {
    switch self {
    case .concept: Message("Concept")
    case .build: Message("Build")
    case .operate: Message("Operate")
    }
  }
}

/// Who reads a guide, and from which pool.
struct GuideReader: Sendable {
  let request: Request
  let signedIn: SignedIn?
  /// Whether the address names a pool, which is shown in a session only.
  let namesPool: Bool
  var place: GuidePool?

  func href(_ path: String) -> String { place?.pool.guides(path) ?? path }

  func values(_ publicURL: PublicURL) -> GuideValues {
    place?.values(publicURL) ?? GuideValues(publicURL)
  }

  /// The page that signs in and leads back to the pool's values.
  var signIn: String? {
    guard signedIn == nil, namesPool, let next = ReturnAddress.current(request) else { return nil }
    return (["next": next] as Form).query(of: ConsolePaths.signIn())
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

struct GuidesView: ViewModel {
  let frame: FrameView
  let reader: GuideReader
  let overview: GuideOverview
  let values: GuideValues
  let guides: [GuideLink]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("summary") { $0.overview.summary.markup($0.values) },
    .optional("place") { view in
      view.reader.place.map { GuidePoolView(place: $0, plain: ConsolePaths.guides()) }
    },
    .text("signIn") { $0.reader.signIn },
    .list(\.guides),
    .list("columns") { $0.overview.columns.map { GuideCell(column: $0, text: $0) } },
    .list("rows") { view in
      view.overview.rows.map { GuideRow(row: $0, columns: view.overview.columns, of: view.reader) }
    },
    .markup("text") { $0.overview.text.markup($0.values) },
  ]
}

struct GuideRow: ViewModel {
  let title: Message
  let href: String
  let cells: [GuideCell]

  init(row: GuideOverview.Row, columns: [String], of reader: GuideReader) {
    title = row.topic.name
    href = reader.href(row.topic.path())
    cells = zip(columns.dropFirst(), row.cells).map { GuideCell(column: $0, text: $1) }
  }

  static let keys: Keys<Self> = [
    .text(\.title),
    .text(\.href),
    .list(\.cells),
  ]
}

struct GuideCell: ViewModel {
  let column: String
  let text: String

  static let keys: Keys<Self> = [
    .text(\.column),
    .text(\.text),
  ]
}

struct GuideView: ViewModel {
  let frame: FrameView
  let reader: GuideReader
  let topic: GuideTopic
  let tab: GuideTab
  let text: GuideText
  let values: GuideValues
  let platform: GuidePlatform
  let cookie: String
  let guides: [GuideLink]

  private var tabs: [Link] {
    GuideTab.allCases.map { each in
      Link(text: each.name, href: reader.href(topic.path(each)), isCurrent: each == tab)
    }
  }

  private static func facts(_ place: GuidePool, _ values: GuideValues) -> [Fact] {
    var facts = [
      Fact(Message("Address"), HTML.copied(values[.address])),
      Fact(Message("Project ID"), HTML.copied(place.pool.project.text)),
    ]
    if let tenant = place.pool.tenant {
      facts.append(Fact(Message("Tenant ID"), HTML.copied(tenant.text)))
    }
    let key =
      place.key.key.map { HTML.copied($0.text) }
      ?? place.key.note.map { Markup(escaping: $0) }
    facts.add(Message("API key"), key)
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

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.topic.name },
    .markup("text") { $0.text.markup($0.values) },
    .optional("place") { view in
      view.reader.place.map { GuidePoolView(place: $0, plain: view.topic.path(view.tab)) }
    },
    .text("signIn") { $0.reader.signIn },
    .flag("isSignedIn") { $0.reader.signedIn != nil },
    .list("facts") { view in view.reader.place.map { Self.facts($0, view.values) } ?? [] },
    .list("tabs") { $0.tabs },
    .flag("hasPlatforms") { $0.text.hasPlatforms },
    .text("action") { $0.topic.path($0.tab) },
    .text(\.cookie),
    .list("platforms") { view in
      GuidePlatform.allCases.map {
        Choice(value: $0.rawValue, text: $0.name, isChosen: $0 == view.platform)
      }
    },
    .list("headings") { $0.text.headings },
    .list(\.guides),
  ]
}

struct GuidePoolView: ViewModel {
  let place: GuidePool
  /// The address of the same page without values.
  let plain: String

  static let keys: Keys<Self> = [
    .text("name") { $0.place.pool.name },
    .text("projectID") { $0.place.pool.project.text },
    .text("tenantID") { $0.place.pool.tenant?.text },
    .text(\.plain),
    .flag("isOff") { $0.place.policy?.configuration.isTOTPOn == false },
    .text("own") { ConsolePaths.poolGuidance($0.place.pool) },
    .text("policy") {
      $0.place.context.may(.readPolicy) ? ConsolePaths.policy($0.place.pool) : nil
    },
  ]
}

struct GuideLink: ViewModel {
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
  ]
}

enum GuidesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let guides = GuidesPage(
      guides: parts.guides, authorizer: parts.authorizer, frames: parts.frames,
      index: try parts.template("guides/guides"),
      view: try parts.template("guides/guide"))
    // In a session, they show a pool's values.
    table.open(.get, ConsolePaths.guides, isDestination: true, guides.list)
    table.open(.get, ConsolePaths.guide, isDestination: true) { visitor, name in
      try await guides.show(visitor, name, .concept)
    }
    table.open(.get, ConsolePaths.guideBuild, isDestination: true) { visitor, name in
      try await guides.show(visitor, name, .build)
    }
    table.open(.get, ConsolePaths.guideOperate, isDestination: true) { visitor, name in
      try await guides.show(visitor, name, .operate)
    }
  }
}

extension ConsolePaths {
  static let guides = Path("guides")
  static let guide = Path("guides", nil, parameters: String.self)
  static let guideBuild = Path("guides", nil, "build", parameters: String.self)
  static let guideOperate = Path("guides", nil, "operate", parameters: String.self)
}
