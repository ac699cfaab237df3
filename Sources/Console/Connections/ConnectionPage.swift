import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText
import Templating

/// `/projects/{p}/settings/connection`: how the reads of a connected project go.
struct ConnectionPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ConnectionView>

  func show(_ context: ProjectContext) async throws -> Response {
    let pool = context.pool
    let pools = try await identity.connections.pools(of: pool.project)
    var model = ConnectionView(
      frame: FrameView(try await frames.frame(Message("Connection"), in: context)),
      context: context, known: try await identity.connections.find(pool.project), pools: pools,
      refresh: PageRefresh(ConsolePaths.connection(pool.project.text), context.signedIn.query),
      now: identity.clock.now())
    if context.signedIn.administrator.may(.findUsers, in: pool) {
      for each in pools where each.faults > 0 && model.faults.count < ConnectionView.mostFaults {
        let limit = ConnectionView.mostFaults - model.faults.count
        let name: Markup = "<span class=\"sub\"><bdi>\(each.pool.name)</bdi></span>"
        for (uid, fault) in try await identity.connections.faults(in: each.pool, limit: limit) {
          model.faults.append(
            Fact(.verbatim(uid.isEmpty ? "–" : uid), "\(fault.text) \(name)"))
        }
      }
    }
    // Otherwise, the next walk asks again.
    if model.known.state == .paused, !model.known.isHeld,
      let undecided = pools.first(where: \.isUndecided)
    {
      let users = try await identity.policies.read(undecided.pool).users
      model.undecided = Message(
        "{server} returned {seen} of {users} users of {pool}.",
        [
          "server": .text(model.known.remote.server), "seen": .number(undecided.read),
          "users": .number(users), "pool": .name(undecided.pool.name),
        ])
    }
    var response = Response.html(view.render(model))
    if model.isRunning { model.refresh.add(to: &response) }
    return response
  }

  func pause(_ context: ProjectContext) async throws -> Response {
    let caller = Caller.console(context.signedIn.plainRequest)
    _ = try await identity.connections.pause(context.pool, by: caller)
    return leave(Message("Connection paused. Nothing is read."), context)
  }

  /// Reads everything now, and keeps those whom a walk didn't see.
  func sync(_ context: ProjectContext) async throws -> Response {
    let caller = Caller.console(context.signedIn.plainRequest)
    do {
      _ = try await identity.connections.sync(context.pool, by: caller)
      return leave(Message("Everything is being read."), context)
    } catch let error as ConnectionError { return leave(error.message(), context) }
  }

  private func leave(_ text: Message, _ context: ProjectContext) -> Response {
    let page = ConsolePaths.connection(context.pool.project.text)
    return frames.leave(text, for: context.signedIn, to: page)
  }
}

struct ConnectionView: ViewModel {
  let frame: FrameView
  let context: ProjectContext
  let known: ProjectConnection
  let pools: [MirroredPool]
  let refresh: PageRefresh
  let now: Instant
  /// What an owner has to decide about; nil if nothing.
  var undecided: Message?
  /// The first users who can't be stored, for those who may see users.
  var faults: [Fact] = []

  static let mostFaults = 50

  /// Whether a first walk is under way.
  var isRunning: Bool {
    known.state == .working && pools.contains { $0.state == .present && $0.firstAt == nil }
  }

  private func may(_ action: ConsoleAction) -> Bool {
    known.state != .disconnected
      && context.signedIn.administrator.may(action: action, in: context.pool)
  }

  private func path(_ change: ChangeConnection.Change) -> String? {
    may(.changeConnection)
      ? ChangeConnection.path(context.pool.project.text, change.rawValue) : nil
  }

  private var chip: Markup {
    switch known.state {
    case .working: Chip.on(Message("working"))
    case .failing: Chip.look(Message("failing"))
    case .paused: Chip.bad(Message("paused"))
    case .disconnected: Chip.off(Message("disconnected"))
    }
  }

  private var walks: [Fact] {
    pools.map { pool in
      let chip =
        pool.state != .present
        ? Chip.look(pool.state == .gone ? Message("gone") : Message("disabled there"))
        : pool.firstAt == nil ? Chip.next(Message("being read")) : ""
      let users = Message(
        one: "{count} user", other: "{count} users", ["count": .number(pool.counted ?? 0)])
      let time = pool.walkedAt.map(frame.times.past) ?? HTML.none
      let length = Formatted.duration(seconds: pool.seconds ?? 0)
      return Fact(
        .verbatim(pool.pool.name),
        "\(chip) \(users) <span class=\"sub\">\(time) (\(length))</span>")
    }
  }

  private var facts: [Fact] {
    let days = Int((now.seconds - known.credentialAt.seconds) / 86_400)
    let age = Message(
      "{days} of {most} days",
      ["days": .number(days), "most": .number(ProjectConnection.longestCredentialAge)])
    var facts = [
      Fact(Message("Access level"), "<code>\(known.access.rawValue)</code>"),
      Fact(Message("Key"), "<code>\(known.credentialKey)</code>"),
      Fact(Message("Age"), age),
    ]
    facts.add(Message("Account"), text: known.credentialName)
    facts.add(Message("Permissions to remove"), text: known.excess.joined(separator: ", "))
    facts.append(Fact(Message("Connected"), frame.times.past(known.connectedAt)))
    facts.add(Message("Connected by"), text: known.connectedBy)
    return facts
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("chip") { $0.chip },
    .text("server") { $0.known.remote.server },
    .text("id") { $0.known.remote.id },
    .text("cause") { $0.known.causeText },
    .markup("since") { view in view.known.causeAt.map(view.frame.times.moment) },
    .text("detail") { $0.known.detail },
    .text(\.undecided),
    .flag("mayRead") { $0.may(.syncConnection) && !$0.known.isHeld },
    .text("pause") { ConsolePaths.pause($0.context.pool.project.text) },
    .text("sync") { ConsolePaths.sync($0.context.pool.project.text) },
    .text("resume") { $0.known.isHeld ? $0.path(.resume) : nil },
    .text("gone") { $0.undecided == nil ? nil : $0.path(.gone) },
    .text("replace") { $0.path(.replace) },
    .text("end") { $0.path(.end) },
    .flag("isRunning") { $0.isRunning },
    .markup("share") { view in
      Meter.share(
        view.pools.reduce(0) { $0 + $1.read }, of: view.pools.reduce(0) { $0 + ($1.counted ?? 0) })
    },
    .object(\.refresh),
    .list("walks") { $0.walks },
    .flag("hasFaults") { !$0.faults.isEmpty },
    .number("count") { $0.pools.reduce(0) { $0 + $1.faults } },
    .number("mostFaults") { _ in mostFaults },
    .list(\.faults),
    .list("facts") { $0.facts },
  ]
}

extension MirrorFault {
  fileprivate var text: Message {
    switch self {
    case .missing: Message("The UID is missing.")
    case .long:
      Message("The UID has more than {longest} bytes.", ["longest": .number(Account.longestID)])
    case .nul: Message("The UID has a NUL character.")
    }
  }
}

enum ConnectionRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("connections/connection", ConnectionPage.init)
    table.inside(ConsolePaths.connection, .get(.readPolicy, needs: .connection), page.show)
    table.inside(ConsolePaths.pause, .performing(.pauseConnection), page.pause)
    table.inside(ConsolePaths.sync, .performing(.syncConnection), page.sync)
    table.add(ChangeConnection(connections: parts.identity.connections), parts.actions)
    try addChanges(to: &table, parts)

    guard parts.identity.profile == .standalone else { return }
    let connect = try parts.page("connections/connect", ConnectPages.init)
    for (step, path) in zip(1..., ConsolePaths.connectionSteps) {
      table.signedIn(path, .get(.manageTrust)) { try await connect.show($0, step) }
    }
    table.signedIn(ConsolePaths.connect, .preparing(.connectProject), connect.choose)
    table.signedIn(ConsolePaths.connectionCredential, .preparing(.connectProject), connect.check)
    table.add(ConnectProject(identity: parts.identity), parts.actions)
  }
}

extension ConsolePaths {
  static let connect = Path("projects", "new", "connection")
  static let connectionCommands = Path("projects", "new", "connection", "commands")
  static let connectionCredential = Path("projects", "new", "connection", "credential")
  static let connectionSteps = [connect, connectionCommands, connectionCredential]
  static let connection = ProjectPath0("settings", "connection")
  static let pause = ProjectPath0("settings", "connection", "pause")
  static let sync = ProjectPath0("settings", "connection", "sync")
}
