import HTTP
import Identity
import Localization

/// `POST S/policy/totp-state`: sets the TOTP state of a configuration that lacks one to Enabled,
/// which it's treated as.
struct StateTOTP: Sendable {
  let pages: PolicyPages

  func perform(_ context: PoolContext) async throws -> Response {
    let (actions, version) = (pages.actions, try pages.version(context))
    do {
      let outcome = try await pages.policies.change(
        context.pool, expecting: version, actions.request(context.signedIn)
      ) { edit throws(PolicyError) in
        if edit.configuration.isUnstated { edit.configuration.totp?.state = .enabled }
      }
      return actions.leave(
        Message("TOTP state set to Enabled. Nothing changes for users."), context.signedIn,
        after: outcome,
        to: ConsolePaths.policy(context.pool))
    } catch PolicyError.changedMeanwhile(let current) {
      return try await pages.page(context, current, PolicyAnswers(current.edit), seen: version)
    } catch let refusal as ActionDenial {
      let faults = try ActionForms.faults(refusal, .changePolicy, context.signedIn)
      let policy = try await pages.current(context)
      return try await pages.page(context, policy, PolicyAnswers(policy.edit), faults: faults)
    }
  }
}
