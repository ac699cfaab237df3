import HTTP
import Identity
import Localization
import Templating

/// `/what-if`: the sign-in simulator, which evaluates the actual sign-in rules without changes.
struct WhatIfPage: Sendable {
  let signIns: SignIns
  let frames: Frames
  let view: Template<WhatIfView>

  private static let most = 20

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let query = signedIn.query.trimmed("q")
    let forecasts =
      query.isEmpty
      ? []
      : try await refusing {
        try await signIns.forecasts(
          of: query, visibleTo: signedIn.administrator, limit: Self.most)
      }
    let frame = frames.frame(
      Message("what-if.sign-in-simulator"), for: signedIn)
    return .html(
      view.render(
        WhatIfView(
          frame: frame, query: query, isCut: forecasts.count == Self.most,
          cases: forecasts.map { WhatIfCase($0, times: frame.times) })))
  }
}

struct WhatIfView: ViewModel {
  let frame: FrameView
  let query: String
  let isCut: Bool
  let cases: [WhatIfCase]

  init(frame: Frame, query: String, isCut: Bool, cases: [WhatIfCase]) {
    self.frame = FrameView(frame)
    self.query = query
    self.isCut = isCut
    self.cases = cases
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.whatIf() },
    .text(\.query),
    .flag(\.isCut),
    .list(\.cases),
    .optional("empty") {
      $0.query.isEmpty || !$0.cases.isEmpty
        ? nil
        : EmptyView(
          heading: Message("what-if.not-found"), sentence: Message("what-if.not-found-hint"),
          link: EmptyLink(
            text: Message("what-if.search-partially"), href: ConsolePaths.findUsers()))
    },
  ]
}
