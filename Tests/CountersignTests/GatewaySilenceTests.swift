import HTTPClient
import SMS
import Testing

@testable import countersign

struct GatewaySilenceTests {
  private func isDown(_ attempt: DeliveryAttempt) -> Bool {
    if case .isDown = attempt { true } else { false }
  }

  @Test func `a gateway is down once it didn't respond to three requests in a row`() {
    var silence = GatewaySilence()
    let silent: [SMSOutcome] = [.interrupted(.timedOut), .interrupted(.interrupted("reset"))]
    for outcome in silent { #expect(!isDown(silence.attempt(outcome))) }
    // Neither says anything about the gateway.
    #expect(!isDown(silence.attempt(.interrupted(.canceled))))
    #expect(isDown(silence.attempt(.unreachable(.unresolved))))
    for outcome in silent { #expect(isDown(silence.attempt(outcome))) }
  }

  @Test(arguments: [
    SMSOutcome.accepted, .refused("400"), .postponed("503"), .unauthorized("401"),
    .interrupted(.tooLarge),
  ])
  func `any response begins the count again`(response: SMSOutcome) {
    var silence = GatewaySilence()
    for _ in 0..<3 { _ = silence.attempt(.interrupted(.timedOut)) }
    _ = silence.attempt(response)
    for _ in 0..<2 { #expect(!isDown(silence.attempt(.interrupted(.timedOut)))) }
    #expect(isDown(silence.attempt(.interrupted(.timedOut))))
  }
}
