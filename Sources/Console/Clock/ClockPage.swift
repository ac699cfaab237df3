import HTTP
import Identity
import Templating

/// `/clock`: shows the server's clock to owners, who confirm the time if it isn't trusted.
struct ClockPage: Sendable {
  let clock: ClockGuard
  let carriesMail: Bool
  let actions: ActionForms
  let view: Template<ClockView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(signedIn)
  }

  func confirm(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let outcome: ActionOutcome<Instant?>
    do {
      outcome = try await clock.confirm(actions.request(signedIn))
    } catch {
      let errors = try await actions.faults(error, .confirmClock, signedIn) {
        error throws(Refusal) in throw Refusal.unavailable(error)
      }
      return try await page(signedIn, errors: errors)
    }
    let text =
      outcome.value.map {
        "Confirmed the time \(signedIn.times.words($0)). \(carriesMail ? "Deletion and email resume." : "Deletion resumes.")"
      } ?? "No changes made. The clock is already trusted."
    return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.clock())
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let reading = try await refusing { try await clock.reading() }
    var frame = actions.frames.frame(
      "Server clock · Administrators", for: signedIn, tab: .administrators)
    frame.crumbs = [Link(text: "Administrators", href: ConsolePaths.administrators())]
    // Once the clock is trusted again, the page has no form for errors to link to.
    frame.errors = reading.doubt == nil ? [] : errors
    let framed = FrameView(frame)
    let model = ClockView(
      frame: framed, reading: reading, carriesMail: carriesMail, csrf: signedIn.session.csrfToken,
      fields: try await actions.fields(.confirmClock, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct ClockView: ViewModel {
  let frame: FrameView
  let reading: ClockReading
  let carriesMail: Bool
  let csrf: String
  let fields: ActionFields

  private var facts: [Fact] {
    let times = frame.times
    return [
      Fact("Server time", times.moment(reading.shown)),
      Fact("Newest stored time", reading.stored.map(times.moment) ?? HTML.escaped("none")),
      Fact(
        "Difference",
        reading.stored.map { Self.difference(reading.shown.seconds - $0.seconds) } ?? "none"),
    ]
  }

  /// How far the clock is from the newest stored time: `400 days ahead`.
  static func difference(_ seconds: Int64) -> String {
    let magnitude = Int(clamping: seconds.magnitude)
    let length =
      magnitude >= 2 * 86_400
      ? Words.count(magnitude / 86_400, "day", "days")
      : magnitude >= 2 * 3_600
        ? Words.count(magnitude / 3_600, "hour", "hours") : Words.duration(seconds: magnitude)
    return "\(length) \(seconds < 0 ? "behind" : "ahead")"
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("isTrusted") { $0.reading.doubt == nil },
    .flag("isDoubted") { $0.reading.doubt != nil },
    .flag("carriesMail") { $0.carriesMail },
    .list("facts") { $0.facts },
    .text("now") { $0.frame.times.words($0.reading.shown) },
    .object("authorization") { $0.fields },
    .text("action") { _ in ConsolePaths.clock() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text("csrf") { $0.csrf },
  ]
}
