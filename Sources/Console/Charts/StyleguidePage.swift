import HTTP
import Identity
import Localization
import OTP
import Templating

/// `/styleguide`: every chart with no data, one value, and many values.
struct StyleguidePage: Sendable {
  let frames: Frames
  let view: Template<StyleguideView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let frame = frames.frame(Message("charts.styleguide"), for: signedIn)
    return .html(view.render(StyleguideView(frame: FrameView(frame))))
  }
}

struct StyleguideView: ViewModel {
  let frame: FrameView

  static let keys: Keys<Self> = [
    .object(\.frame),
    .list("charts") { _ in ChartSamples.frames },
    .list("small") { _ in ChartSamples.small },
  ]
}
