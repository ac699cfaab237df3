import HTTP
import Identity
import Localization
import Templating

/// `/sign-in-simulator`: the sign-in simulator, which evaluates the actual sign-in rules without changes.
struct SignInSimulatorPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignInSimulatorView>

  private static let most = 20

  func show(_ signedIn: SignedIn) async throws -> Response {
    let query = signedIn.query.trimmed("q")
    let forecasts =
      query.isEmpty
      ? []
      : try await identity.signIns.forecasts(
        of: query, visibleTo: signedIn.administrator, limit: Self.most)
    let frame = await frames.frame(Message("Sign-in simulator"), for: signedIn)
    return .html(
      view.render(
        SignInSimulatorView(
          frame: FrameView(frame), query: query, isCut: forecasts.count == Self.most,
          cases: forecasts.map { SignInSimulatorCase($0, times: frame.times) })))
  }
}

struct SignInSimulatorView: ViewModel {
  let frame: FrameView
  let query: String
  let isCut: Bool
  let cases: [SignInSimulatorCase]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.signInSimulator() },
    .text(\.query),
    .flag(\.isCut),
    .list(\.cases),
    .optional("empty") {
      $0.query.isEmpty || !$0.cases.isEmpty
        ? nil
        : EmptyView(
          heading: Message("No users found"),
          sentence: Message(
            """
            No user in the tenants you can access has exactly this email address or UID. Sign-in \
            with it is rejected.
            """),
          link: Link(
            text: Message("Search for partial matches"), href: ConsolePaths.findUsers()))
    },
  ]
}

enum SignInSimulatorRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let simulator = try parts.page("sign-in-simulator/sign-in-simulator", SignInSimulatorPage.init)
    table.somewhere(ConsolePaths.signInSimulator, .get(.findUsers), simulator.show)
  }
}

extension ConsolePaths {
  static let signInSimulator = Path("sign-in-simulator")
}
