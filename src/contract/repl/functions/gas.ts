/** The functions of the interpreter for gas: its model, price and limit, the gas used, and the log of charges. */

import { describeModel, type GasModel, tableModel } from '../../gas/model.ts';
import { type Native, strict } from '../../runtime/native.ts';
import { Decimal } from '../../values/decimal.ts';
import { printedDecimal } from '../../values/printing.ts';
import type { Value } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

const UNKNOWN_MODEL = 'Unrecognized model, perhaps try (env-gasmodel "table") or (env-gasmodel "fixed" 1)';

export function gas(run: TestRun): readonly Native[] {
  const setModel = (gasModel: GasModel) =>
    run.set({ gasModel }, `Set gas model to ${describeModel(gasModel).description}`);
  return [
    strict('env-gas', [' -> integer', 'gas:integer -> string'], ([units, ...more], { evaluator }) => {
      if (more.length > 0) return undefined;
      if (units === undefined) return evaluator.gas.used;
      if (typeof units !== 'bigint') return undefined;
      evaluator.gas.set(units);
      return `Set gas to ${units}`;
    }),
    {
      ...strict('env-milligas', ' -> integer', (values, { evaluator }) =>
        values.length === 0 ? evaluator.gas.usedThousandths : undefined,
      ),
      dialect: 5,
    },
    {
      ...strict('env-set-milligas', 'gas:integer -> string', ([thousandths, ...more], { evaluator }) => {
        if (typeof thousandths !== 'bigint' || more.length > 0) return undefined;
        evaluator.gas.usedThousandths = thousandths;
        return `Set milligas to ${thousandths}`;
      }),
      dialect: 5,
    },
    strict('env-gaslimit', 'limit:integer -> string', ([limit, ...more]) => {
      if (typeof limit !== 'bigint' || more.length > 0) return undefined;
      return run.set({ gasLimit: limit }, `Set gas limit to ${limit}`);
    }),
    strict('env-gasprice', 'price:decimal -> string', ([price, ...more], { evaluator }) => {
      if (!(price instanceof Decimal) || more.length > 0) return undefined;
      const chain = { ...run.environment.chain, gasPrice: price };
      return run.set({ chain }, `Set gas price to ${printedDecimal(price, evaluator.dialect)}`);
    }),
    strict('env-gasrate', 'rate:integer -> string', ([rate, ...more]) =>
      typeof rate === 'bigint' && more.length === 0 ? setModel({ kind: 'fixed', rate }) : undefined,
    ),
    strict(
      'env-gasmodel',
      ['model:string -> string', ' -> string', 'model:string rate:integer -> string'],
      (values, { evaluator }) => {
        if (values.length === 0) {
          const { name, description } = describeModel(run.environment.gasModel);
          return `Current gas model is '${name}': ${description}`;
        }
        const model = modelOf(values, evaluator.environment.flags);
        return model ? setModel(model) : UNKNOWN_MODEL;
      },
    ),
    strict('env-gaslog', ' -> string', (values, { evaluator }) => {
      // Dialect 4 ignores the arguments.
      if (values.length > 0 && evaluator.dialect === 5) return undefined;
      const begun = evaluator.dialect === 4 ? 'Enabled gas log' : ['Enabled gas log'];
      return evaluator.gas.takeLog() ?? begun;
    }),
  ];
}

function modelOf([name, rate, ...more]: readonly Value[], flags: ReadonlySet<string>): GasModel | undefined {
  if (more.length > 0) return undefined;
  if (name === 'table' && rate === undefined) return tableModel(flags);
  return name === 'fixed' && typeof rate === 'bigint' ? { kind: 'fixed', rate } : undefined;
}
