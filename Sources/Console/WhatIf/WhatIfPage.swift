import HTTP
import Identity
import Templating

/// `/what-if`: what happens when a user signs in, foretold by the rules of sign-in itself.
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
    let frame = frames.frame("What if somebody signs in?", for: signedIn, tab: .whatIf)
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
    .object("frame") { $0.frame },
    .text("action") { _ in ConsolePaths.whatIf() },
    .text("query") { $0.query },
    .flag("isCut") { $0.isCut },
    .list("cases") { $0.cases },
    .optional("empty") {
      $0.query.isEmpty || !$0.cases.isEmpty
        ? nil
        : EmptyView(
          heading: "Nobody is called so",
          sentence:
            "No user of the pools that you may see has exactly this email address or uid. An application that sends it is refused as with a wrong password.",
          link: EmptyLink(text: "Search by a part of it", href: ConsolePaths.findUsers()))
    },
  ]
}
