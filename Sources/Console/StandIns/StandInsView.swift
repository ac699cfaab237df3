import HTTP
import Identity
import Templating

/// What stands in for a user's authenticator app, and what may be done about it, on the user's page.
///
/// An address that is nil is not offered.
struct StandInsView: ViewModel {
  var facts: [Fact] = []
  var links: [Link] = []

  /// Reads what there is to show; nil when there is nothing.
  init?(
    _ account: Account, in context: ScopeContext, _ identity: Identity, _ times: Times
  ) async throws(Refusal) {
    let (scope, uid) = (context.scope, account.id.text)
    let mayAct = context.may(.removeFactors)
    if account.has(.totp) {
      let state: StandInState
      let settings: DeskSettings
      do throws(DeskError) { state = try await identity.standIns.state(of: account) } catch {
        throw .unavailable(error)
      }
      do throws(DeskSettingsError) { settings = try await identity.desk.settings(scope) } catch {
        throw .unavailable(error)
      }
      facts = Self.facts(state, times)
      if mayAct, settings.temporaryCodes {
        links.append(
          Link(text: "Temporary code…", href: ConsolePaths.temporaryCode(scope, uid)))
      }
      if mayAct, state.temporaryUntil != nil {
        links.append(
          Link(
            text: "End the temporary code…", href: ConsolePaths.temporaryCodeRemoval(scope, uid)))
      }
      if mayAct, state.recoveryLeft != nil {
        links.append(
          Link(
            text: "End the recovery codes…", href: ConsolePaths.recoveryCodesRemoval(scope, uid)))
      }
    } else if mayAct, account.email != nil {
      let policy: Policy
      do { policy = try await identity.policies.read(scope) } catch { throw Refusal(error) }
      if EnrolmentLinks.refusal(account, policy) == nil {
        links.append(
          Link(text: "Send a link to enrol…", href: ConsolePaths.enrolmentLink(scope, uid)))
      }
    }
    if facts.isEmpty, links.isEmpty { return nil }
  }

  private static func facts(_ state: StandInState, _ times: Times) -> [Fact] {
    var facts: [Fact] = []
    if let until = state.temporaryUntil {
      var html = HTML()
      html.raw("counts once until ")
      html.add(times.moment(until))
      facts.append(Fact("Temporary code", html.markup))
    }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      var html = HTML()
      html.number(left)
      html.raw(" left, made ")
      html.add(times.moment(madeAt))
      facts.append(Fact("Recovery codes", html.markup))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .flag("hasFacts") { !$0.facts.isEmpty },
    .list("facts") { $0.facts },
    .flag("hasLinks") { !$0.links.isEmpty },
    .list("links") { $0.links },
  ]
}
