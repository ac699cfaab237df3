import HTTP
import Identity
import Localization
import Templating

/// `/clock`: shows the server's clock to owners, who confirm the time if it isn't trusted.
struct ClockPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ClockView>

  func confirm(_ signedIn: SignedIn) async throws -> Response {
    let outcome: ActionOutcome<Instant?>
    do {
      outcome = try await identity.clockGuard.confirm(by: .console(actions.request(signedIn)))
    } catch let refusal as ActionDenial {
      let errors = try ActionForms.faults(refusal, .confirmClock, signedIn)
      return try await page(signedIn, errors: errors)
    }
    let text =
      outcome.value.map { time in
        identity.messages.carriesMail
          ? Message(
            "Time confirmed: {time}. Deletion and email resume.",
            ["time": signedIn.times.value(time)])
          : Message(
            "Time confirmed: {time}. Deletion resumes.", ["time": signedIn.times.value(time)])
      } ?? Message("No changes made. The clock is already trusted.")
    return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.clock())
  }

  func page(
    _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws -> Response {
    let reading = try await identity.clockGuard.reading()
    let title = Message("Server clock")
    // Once the clock is trusted again, the page has no form for errors to link to.
    let framed = FrameView(
      await frames.frame(
        Message("{title} · Instance settings", ["title": .message(title)]), for: signedIn,
        errors: reading.doubt == nil ? [] : errors))
    let model = ClockView(
      frame: framed, reading: reading, carriesMail: identity.messages.carriesMail,
      fields: try await actions.fields(.confirmClock, signedIn, framed))
    return .html(view.render(model), errors: errors)
  }
}

struct ClockView: ViewModel {
  let frame: FrameView
  let reading: ClockReading
  let carriesMail: Bool
  let fields: ActionFields

  private var facts: [Fact] {
    let times = frame.times
    let none = Message("none")
    return [
      Fact(Message("Server time"), times.moment(reading.shown)),
      Fact(
        Message("Newest stored time"),
        reading.stored.map(times.moment) ?? Markup(escaping: none)),
      reading.doubt == nil
        ? Fact(
          Message("Jumps since the server started"),
          jumped == 0 ? none : Self.difference(jumped))
        : Fact(
          Message("Difference"),
          reading.stored.map { Self.difference(reading.shown.seconds - $0.seconds) } ?? none),
    ]
  }

  /// The sum of the jumps, in seconds.
  private var jumped: Int64 { Int64((reading.offset / .seconds(1)).rounded()) }

  /// How far the clock is from another time: `400 days ahead`.
  static func difference(_ seconds: Int64) -> Message {
    let magnitude = Int(clamping: seconds.magnitude)
    if magnitude >= 2 * 86_400 {
      let days = Message.Value.number(magnitude / 86_400)
      return seconds < 0
        ? Message(one: "{count} day behind", other: "{count} days behind", ["count": days])
        : Message(one: "{count} day ahead", other: "{count} days ahead", ["count": days])
    }
    if magnitude >= 2 * 3_600 {
      let hours = Message.Value.number(magnitude / 3_600)
      return seconds < 0
        ? Message(one: "{count} hour behind", other: "{count} hours behind", ["count": hours])
        : Message(one: "{count} hour ahead", other: "{count} hours ahead", ["count": hours])
    }
    let length = Message.Value.message(Formatted.duration(seconds: magnitude))
    return seconds < 0
      ? Message("{length} behind", ["length": length])
      : Message("{length} ahead", ["length": length])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("isCorrect") { $0.reading.doubt == nil && !$0.reading.hasJumped },
    .flag("hasJumped") { $0.reading.doubt == nil && $0.reading.hasJumped },
    .flag("isDoubted") { $0.reading.doubt != nil },
    .flag(\.carriesMail),
    .list("facts") { $0.facts },
    .text("now") { Message.value($0.frame.times.value($0.reading.shown)) },
    .object("authorization") { $0.fields },
    .text("action") { _ in ConsolePaths.clock() },
    .text("back") { _ in ConsolePaths.instanceSettings() },
  ]
}

enum ClockRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let clock = try parts.page("clock/clock", ClockPage.init)
    table.signedIn(ConsolePaths.clock, .get(.protectUsers)) { try await clock.page($0) }
    table.signedIn(ConsolePaths.clock, .performing(.confirmClock), clock.confirm)
  }
}

extension ConsolePaths {
  static let clock = Path("clock")
}
