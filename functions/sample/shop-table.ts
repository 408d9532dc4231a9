/** Environment variable: name of the sample's own table. Its partition key is `pk`, and it has no sort key. */
export const SHOP_TABLE = 'SHOP_TABLE'
